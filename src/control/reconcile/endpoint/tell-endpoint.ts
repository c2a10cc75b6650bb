import type { ResourceRecord } from '../../../store/resources/resource-record.js';
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
  memory: EndpointMemory,
): Promise<void> {
  const { failedStart, kv, lastExit } = memory;
  const cluster = { kind: 'Cluster', workspace: '', name: LOCAL_CLUSTER };
  const room =
    model.state === 'ready' && model.model !== null
      ? await kv.of(model.model, record.spec as EndpointSpec, await store.resources.get(cluster))
      : {};
  const before = record.status as Status | null;
  const { problem, status } = endpointStatus({
    ...{ desired, replicas, model, unrouted, lastExit, before, room },
    isDeleting: record.deletedAt !== null,
    generation: record.generation,
    hindrance: hindrance ?? (failedStart?.specHash === desired.specHash ? failedStart : null),
    url: urlOf(record.workspace, record.name),
    now: timing.now(),
  });
  await store.putStatus(record, record.uid, status);
  const told = memory.toldProblem;
  memory.toldProblem = problem;
  const isOther = problem !== null && told !== undefined && problem !== told;
  if (before?.phase === status.phase && !isOther) return;
  // A start that failed has told it.
  if (problem !== null && problem === failedStart?.message) return;
  const text = problem ?? (status.message || usualText(status.phase, desired.replicas));
  await store.events.add(record, problem === null ? 'normal' : 'warning', status.phase, text);
}

/** Of a phase that needs no more words where it stands beside the numbers. */
function usualText(phase: string, replicas: number): string {
  if (phase === 'Running') return replicas === 1 ? 'its replica is ready' : `all ${replicas} replicas are ready`;
  return phase === 'Paused' ? 'it has no replicas' : 'it is being taken down';
}
