import { setTimeout as delay } from 'node:timers/promises';
import { endpointName } from '../../gateway/fleet/endpoint-name.js';
import type { ServedGateway } from '../api-host.js';
import { endpointView, type LiveReplicaView, replicaViews } from '../gateway/live-endpoints.js';

const PAUSE_MS = 1000;

export interface ReplicaChange {
  /** `listed`: as it is when the stream starts, or when it joins. */
  readonly type: 'listed' | 'changed' | 'removed';
  readonly replica: LiveReplicaView;
}

/**
 * The state of every replica, then each change, until the signal. The gateway is polled once a second, and only while a
 * client follows: requests cost nothing more.
 */
export async function* followReplicas(
  gateway: Pick<ServedGateway, 'endpoints' | 'fleet'>,
  isWanted: (replica: LiveReplicaView) => boolean,
  signal: AbortSignal,
  pauseMs = PAUSE_MS,
): AsyncGenerator<ReplicaChange> {
  let known = new Map<string, { text: string; replica: LiveReplicaView }>();
  while (!signal.aborted) {
    const now: typeof known = new Map();
    for (const replica of replicaViews(gateway).filter(isWanted)) {
      const text = JSON.stringify(replica);
      const key = `${replica.workspace}/${replica.endpoint}/${replica.id}`;
      const before = known.get(key);
      now.set(key, { text, replica });
      if (before?.text !== text) yield { type: before === undefined ? 'listed' : 'changed', replica };
    }
    for (const [key, { replica }] of known) if (!now.has(key)) yield { type: 'removed', replica };
    known = now;
    await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
}

/** The traffic every two seconds, until the signal. It is summed up only while a client follows. */
export async function* followTraffic<View>(
  read: () => View,
  signal: AbortSignal,
  pauseMs = 2 * PAUSE_MS,
): AsyncGenerator<View> {
  while (!signal.aborted) {
    yield read();
    await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
}

/** A change of the gateway itself: the policy of an endpoint, its configuration, or that it stops taking requests. */
export type GatewayChange =
  | { readonly type: 'policy'; readonly endpoint: ReturnType<typeof endpointView> }
  | { readonly type: 'config' | 'draining' };

/** The same for the gateway itself: changes from now on. */
export async function* followGateway(
  gateway: Pick<ServedGateway, 'config' | 'endpoints' | 'fleet' | 'isDraining' | 'nowMs' | 'traffic'>,
  signal: AbortSignal,
  pauseMs = PAUSE_MS,
): AsyncGenerator<GatewayChange> {
  let { config, isDraining } = gateway;
  let hashes = hashesOf(gateway);
  while (!signal.aborted) {
    await delay(pauseMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    if (gateway.config !== config) yield { type: 'config' };
    if (gateway.isDraining && !isDraining) yield { type: 'draining' };
    for (const endpoint of gateway.endpoints.values()) {
      const before = hashes.get(fullName(endpoint));
      if (before !== undefined && before !== endpoint.policyHash)
        yield { type: 'policy', endpoint: endpointView(gateway, endpoint) };
    }
    ({ config, isDraining } = gateway);
    hashes = hashesOf(gateway);
  }
}

type Endpoint = Parameters<typeof endpointView>[1];

const hashesOf = ({ endpoints }: Pick<ServedGateway, 'endpoints'>) =>
  new Map([...endpoints.values()].map((endpoint) => [fullName(endpoint), endpoint.policyHash]));

function fullName(endpoint: Endpoint): string {
  const { name, workspace } = endpointName(endpoint);
  return `${workspace}/${name}`;
}
