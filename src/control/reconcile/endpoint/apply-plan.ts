import { InputError, RunError } from '../../../kernel/errors.js';
import type { ResourceRecord, ResourceRef } from '../../../store/resources/resource-record.js';
import type { EndpointSpec } from '../../resources/kinds/endpoint.js';
import { isNotLeading, NoRoom } from '../../runner/errors.js';
import { retryDelay } from '../queue/retry-delay.js';
import type { EndpointMemory } from './endpoint-memory.js';
import type { EndpointParts } from './endpoint-parts.js';
import type { EndpointPlan, PlannedStart } from './plan/endpoint-state.js';
import { replicaId, replicaSpec } from './replica-template.js';
import type { ResolvedEndpoint } from './resolve-endpoint.js';

/** Drain time of an endpoint that does not exist any more. */
const DEFAULT_DRAIN_MS = 30_000;
const NO_ROOM_MS = 5000;
/** Starts per run: the state is observed again between runs. */
const MOST_STARTS = 4;
/** The command of this program in a cluster: its image has it on the PATH. */
const SELF_ELSEWHERE = ['twinyard'];

/** Takes the planned steps; returns whether there are more to take at once. */
export async function applyPlan(
  plan: EndpointPlan,
  { name, workspace }: ResourceRef,
  endpoint: { readonly record: ResourceRecord; readonly resolved: ResolvedEndpoint } | null,
  parts: EndpointParts,
  memory: EndpointMemory,
): Promise<boolean> {
  const drain = (endpoint?.record.spec as EndpointSpec | undefined)?.deployment.drain_timeout_s;
  const drainMs = drain === undefined ? DEFAULT_DRAIN_MS : drain * 1000;
  for (const { cluster, id } of plan.drain) parts.draining.drain({ id, cluster, workspace, endpoint: name }, drainMs);
  for (const one of plan.remove) await parts.runners.stop(one, { graceMs: 0 });
  const now = plan.start.slice(0, MOST_STARTS);
  for (const one of now) if (!(await start(one, endpoint!.record, endpoint!.resolved, parts, memory))) return false;
  return plan.start.length > now.length;
}

async function start(
  { replaces, restarts }: PlannedStart,
  record: ResourceRecord,
  { desired, download, engine, model }: ResolvedEndpoint,
  { randomName, runners, self, store, timing }: EndpointParts,
  memory: EndpointMemory,
): Promise<boolean> {
  const specHash = desired.specHash!;
  const id = replicaId(record, randomName());
  const fetched = model.state === 'ready' ? model.model : null;
  const spec = store.secretsOf(record) as EndpointSpec;
  const { runsHere, runsPods: isPod } = runners.typeOf(spec.cluster) ?? {};
  const command = runsHere ? self : SELF_ELSEWHERE;
  try {
    const replica = replicaSpec(id, specHash, {
      record,
      spec,
      engine: engine!,
      model: fetched,
      download,
      isPod,
      self: command,
    });
    await runners.start(spec.cluster, replica);
  } catch (error) {
    if (!(error instanceof InputError || error instanceof RunError) || isNotLeading(error)) throw error;
    const isTransient = error instanceof NoRoom;
    const failures = (memory.failedStartOf(specHash)?.failures ?? 0) + 1;
    const retryAt = timing.now() + (isTransient ? NO_ROOM_MS : retryDelay(failures));
    memory.failedStart = { specHash, failures, retryAt, isTransient, message: error.message };
    await store.events.add(record, 'warning', isTransient ? 'NoRoom' : 'NotStarted', error.message);
    return false;
  }
  memory.failedStart = null;
  if (restarts > 0) memory.restarts.set(id, restarts);
  // After the new one has started: an interruption in between leaves one too many to remove, not one too few.
  if (replaces !== null) await runners.stop(replaces, { graceMs: 0 });
  return true;
}
