import { InputError, RunError } from '../../../kernel/errors.js';
import type { ResourceRecord, ResourceRef } from '../../../store/resources/resource-record.js';
import type { EndpointSpec } from '../../resources/kinds/endpoint.js';
import { NoRoom } from '../../runner/errors.js';
import { retryDelay } from '../retry-delay.js';
import type { EndpointMemory } from './endpoint-memory.js';
import type { EndpointParts } from './endpoint-parts.js';
import type { EndpointPlan, StartedInPlace } from './endpoint-state.js';
import type { EndpointWish } from './endpoint-wish.js';
import { replicaId, replicaSpec } from './replica-template.js';

/** Of an endpoint that nobody can ask any more. */
const USUAL_DRAIN_MS = 30_000;
const NO_ROOM_MS = 5000;
/** So many are started before it is looked again at what has happened meanwhile. */
const MOST_STARTS = 4;

/** Does what was planned for an endpoint's replicas; says whether there is more to do at once. */
export async function carryOut(
  plan: EndpointPlan,
  { name, workspace }: ResourceRef,
  asked: { readonly record: ResourceRecord; readonly wish: EndpointWish } | null,
  parts: EndpointParts,
  memory: EndpointMemory,
): Promise<boolean> {
  const drain = (asked?.record.spec as EndpointSpec | undefined)?.deployment.drain_timeout_s;
  const drainMs = drain === undefined ? USUAL_DRAIN_MS : drain * 1000;
  for (const { id } of plan.leave) parts.leaving.leave({ id, workspace, endpoint: name }, drainMs);
  for (const { id } of plan.forget) await parts.runner.stop(id, { graceMs: 0 });
  const now = plan.start.slice(0, MOST_STARTS);
  for (const one of now) if (!(await start(one, asked!.record, asked!.wish, parts, memory))) return false;
  return plan.start.length > now.length;
}

async function start(
  { instead, restarts }: StartedInPlace,
  record: ResourceRecord,
  { desired, engine, model }: EndpointWish,
  { randomName, runner, self, store, timing }: EndpointParts,
  memory: EndpointMemory,
): Promise<boolean> {
  const specHash = desired.specHash!;
  const id = replicaId(record, randomName());
  const fetched = model.state === 'ready' ? model.model : null;
  const spec = store.secretsOf(record) as EndpointSpec;
  try {
    await runner.start(replicaSpec(id, specHash, { record, spec, engine: engine!, model: fetched, self }));
  } catch (error) {
    if (!(error instanceof InputError || error instanceof RunError)) throw error;
    const isPassing = error instanceof NoRoom;
    const failures = (memory.failedStart?.specHash === specHash ? memory.failedStart.failures : 0) + 1;
    const from = timing.now() + (isPassing ? NO_ROOM_MS : retryDelay(failures));
    memory.failedStart = { specHash, failures, from, isPassing, message: error.message };
    await store.events.add(record, 'warning', isPassing ? 'NoRoom' : 'NotStarted', error.message);
    return false;
  }
  memory.failedStart = null;
  if (restarts > 0) memory.restarts.set(id, restarts);
  // After the new one is there: whoever is interrupted in between has one too many to forget, and none too few.
  if (instead !== null) await runner.stop(instead.id, { graceMs: 0 });
  return true;
}
