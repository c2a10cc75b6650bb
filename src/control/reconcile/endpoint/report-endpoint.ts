import type { ResourceRecord } from '../../../store/resources/resource-record.js';
import type { EndpointSpec } from '../../resources/kinds/endpoint.js';
import type { Status } from '../../resources/resource.js';
import type { EndpointMemory } from './endpoint-memory.js';
import type { EndpointParts } from './endpoint-parts.js';
import type { ObservedReplica } from './plan/endpoint-state.js';
import type { ResolvedEndpoint } from './resolve-endpoint.js';
import { endpointStatus } from './status/endpoint-status.js';
import { replicaEvents, seenOf } from './status/replica-events.js';

/** Records events of replicas since the last observation, and during this run. */
export async function reportEvents(
  record: ResourceRecord,
  before: readonly ObservedReplica[],
  after: readonly ObservedReplica[],
  { store }: Pick<EndpointParts, 'store'>,
  memory: EndpointMemory,
): Promise<void> {
  const events = [...replicaEvents(memory.seen, before), ...replicaEvents(seenOf(before), after)];
  memory.seen = seenOf(after);
  for (const { message, reason, type } of events) await store.events.add(record, type, reason, message);
}

/** Writes the status of an endpoint, and an event when its phase or its problem has changed. */
export async function reportStatus(
  record: ResourceRecord,
  { blocker, desired, model }: ResolvedEndpoint,
  replicas: readonly ObservedReplica[],
  unrouted: string | null,
  { store, timing, urlOf }: Pick<EndpointParts, 'store' | 'timing' | 'urlOf'>,
  memory: EndpointMemory,
): Promise<void> {
  const { failedStart, kv, lastExit } = memory;
  const spec = record.spec as EndpointSpec;
  const cluster = { kind: 'Cluster', workspace: '', name: spec.cluster };
  const kvFacts =
    model.state === 'ready' && model.model !== null
      ? await kv.of(model.model, spec, await store.resources.get(cluster))
      : {};
  const before = record.status as Status | null;
  const { problem, status } = endpointStatus({
    ...{ desired, replicas, model, unrouted, lastExit, before, kvFacts },
    isDeleting: record.deletedAt !== null,
    generation: record.generation,
    blocker: blocker ?? memory.failedStartOf(desired.specHash),
    url: urlOf(record.workspace, record.name),
    now: timing.now(),
  });
  await store.putStatus(record, record.uid, status);
  const reported = memory.reportedProblem;
  memory.reportedProblem = problem;
  const isOther = problem !== null && reported !== undefined && problem !== reported;
  if (before?.phase === status.phase && !isOther) return;
  // A failed start has recorded its own event.
  if (problem !== null && problem === failedStart?.message) return;
  const text = problem ?? (status.message || phaseText(status.phase, desired.replicas));
  await store.events.add(record, problem === null ? 'normal' : 'warning', status.phase, text);
}

/** The event of a phase that has no message. */
function phaseText(phase: string, replicas: number): string {
  if (phase === 'Running') return replicas === 1 ? 'its replica is ready' : `all ${replicas} replicas are ready`;
  return phase === 'Paused' ? 'it has no replicas' : 'its replicas are being stopped';
}
