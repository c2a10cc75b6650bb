import type { LiveReplicaView } from '../../api/gateway/live-endpoints.js';
import type { ShadowView } from '../../api/views/shadow-views.js';
import type { EndpointAdvice } from '../../control/resources/kinds/endpoint.js';
import { readSamples, type Samples } from '../../protocol/prometheus/read-samples.js';
import { ApiClient } from '../api/api-client.js';
import type { HttpTransport } from '../api/http-transport.js';

/** An endpoint as `GET /api/v1/live` returns it. */
export interface TopEndpoint {
  readonly workspace: string;
  readonly name: string;
  readonly source: 'file' | 'control-plane';
  readonly policy: { readonly routing?: { readonly policy?: string } };
  readonly in_flight: number;
  readonly queued: Readonly<Record<string, number>>;
  readonly advice?: EndpointAdvice;
  readonly shadows: readonly Pick<ShadowView, 'name' | 'on_real_placements'>[];
}

/** In JSON a signal that the engine does not report is null. */
export interface TopReplica extends Omit<LiveReplicaView, 'signals'> {
  readonly signals: { readonly [Signal in 'running' | 'waiting' | 'kvUsed' | 'cacheHitRate']: number | null } | null;
}

/** A gateway at one moment. */
export interface Reading {
  /** By the clock of this process. */
  readonly atMs: number;
  readonly url: string;
  readonly endpoints: readonly TopEndpoint[];
  readonly replicas: readonly TopReplica[];
  readonly metrics: Samples;
}

/** Reads endpoints, replicas and metrics at once. @param workspace null for all */
export async function readGateway(
  transport: HttpTransport,
  workspace: string | null,
  signal: AbortSignal,
): Promise<Reading> {
  const client = new ApiClient(transport);
  const query = { workspace };
  const [endpoints, replicas, text] = await Promise.all([
    client.list<TopEndpoint>('/api/v1/live', { query, signal }),
    client.list<TopReplica>('/api/v1/replicas', { query, signal }),
    transport.text('/metrics', signal),
  ]);
  return {
    atMs: Date.now(),
    url: transport.url,
    endpoints: endpoints.items,
    replicas: replicas.items,
    metrics: readSamples(text),
  };
}

/** What metrics call an endpoint. */
export function labelOf({ name, source, workspace }: TopEndpoint): string {
  return source === 'file' ? name : `${workspace}/${name}`;
}
