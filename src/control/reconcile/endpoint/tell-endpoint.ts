import type { ResourceRecord } from '../../../store/resource-record.js';
import type { EndpointSpec } from '../../resources/kinds/endpoint.js';
import type { Status } from '../../resources/resource.js';
import { LOCAL_CLUSTER } from '../local-cluster.js';
import type { EndpointMemory } from './endpoint-memory.js';
import type { EndpointParts } from './endpoint-parts.js';
import type { ObservedReplica } from './endpoint-state.js';
import { endpointStatus } from './endpoint-status.js';
import type { EndpointWish } from './endpoint-wish.js';
import { replicaNews, seenOf } from './replica-events.js';

/** Records what has happened to replicas since the last look, and during this one. */
export async function tellNews(
  record: ResourceRecord,
  before: readonly ObservedReplica[],
  after: readonly ObservedReplica[],
  { store }: Pick<EndpointParts, 'store'>,
  memory: EndpointMemory,
): Promise<void> {
  const news = [...replicaNews(memory.seen, before), ...replicaNews(seenOf(before), after)];
  memory.seen = seenOf(after);
  for (const { message, reason, type } of news) await store.events.add(record, type, reason, message);
}

/** Writes down how an endpoint is, and records it when that has changed. */
export async function tellStatus(
  record: ResourceRecord,
  { desired, hindrance, model }: EndpointWish,
  replicas: readonly ObservedReplica[],
  unrouted: string | null,
  { store, timing, urlOf }: Pick<EndpointParts, 'store' | 'timing' | 'urlOf'>,
  { failedStart, kv, lastExit }: EndpointMemory,
): Promise<void> {
  const cluster = { kind: 'Cluster', workspace: '', name: LOCAL_CLUSTER };
  const room =
    model.state === 'ready' && model.model !== null
      ? await kv.of(model.model, record.spec as EndpointSpec, await store.resources.get(cluster))
      : {};
  const before = record.status as Status | null;
  const status = endpointStatus({
    ...{ desired, replicas, model, unrouted, lastExit, before, room },
    isDeleting: record.deletedAt !== null,
    generation: record.generation,
    hindrance: hindrance ?? (failedStart?.specHash === desired.specHash ? failedStart : null),
    url: urlOf(record.workspace, record.name),
    now: timing.now(),
  });
  await store.putStatus(record, record.uid, status);
  if (before?.phase === status.phase) return;
  const type = status.phase === 'Failed' || status.phase === 'Degraded' ? 'warning' : 'normal';
  await store.events.add(record, type, status.phase, status.message);
}
