import {
  type DesiredEndpoint,
  type EndpointPlan,
  isRouted,
  isStillReached,
  type ObservedReplica,
  type PlannedStart,
} from './endpoint-state.js';
import { restartAfter } from './restart-after.js';

/** How long a replica that was ready may take to become ready again. */
const UNREADY_MS = 120_000;
/** How soon to look again whether the gateway still reaches the last replica. */
const LAST_RESORT_MS = 2000;

export interface PlanInput {
  readonly desired: DesiredEndpoint;
  readonly replicas: readonly ObservedReplica[];
  readonly now: number;
  /** Nothing is started before this: the last start failed. */
  readonly startsFrom: number;
}

/**
 * The next steps for an endpoint's replicas, a function of desired and observed state and the time. It promises:
 *
 * - only ready replicas are routed to; while the gateway reaches none, also those that were ready and that it still reaches: a
 *   cluster that misses the heartbeat of a node calls replicas unready that respond;
 * - no ready replica is drained if fewer than `replicas - maxUnavailable` would be left, and no outdated one, nor one that an
 *   operator has drained, before the gateway has reached as many new ones;
 * - no replica that was ready is given up while another one drains: if all are slow to respond, they are not all ended;
 * - no replica is started if more than `replicas + maxSurge` would run, draining ones included.
 */
export function planEndpoint({ desired, now, replicas, startsFrom }: PlanInput): EndpointPlan {
  const present = replicas.filter(({ isDraining }) => !isDraining);
  // While the desired hash is not known, every replica counts as current, but for those that an operator has drained.
  const isCurrent = ({ isLeaving, specHash }: ObservedReplica) =>
    !isLeaving && (desired.specHash === null || specHash === desired.specHash);
  const current = present.filter(isCurrent);
  const outdated = present.filter((one) => !isCurrent(one));
  const surplus = inRemovalOrder(current).slice(0, Math.max(0, current.length - desired.replicas));
  const needed = current.filter((one) => !surplus.includes(one));
  const lastResort = present.some(isServing) ? [] : present.filter(isStillReached);
  const overdue = needed.filter((one) => now >= givenUpAt(one) && !lastResort.includes(one));
  const lost = present.length === replicas.length ? overdue.slice(0, 1) : [];
  const kept = needed.filter((one) => !lost.includes(one));
  const replacedByNew = removableOutdated(outdated, kept, desired).filter((one) => !lastResort.includes(one));
  const gone = [...surplus, ...lost, ...replacedByNew];
  const start = starts(kept, replicas, { desired, now, startsFrom });
  const replaced = start.map(({ replaces }) => replaces);
  const waiting = kept.filter((one) => !replaced.includes(one));
  return {
    routed: present.filter((one) => (isRouted(one) || lastResort.includes(one)) && !gone.includes(one)),
    drain: gone.filter(({ phase }) => phase !== 'exited'),
    remove: gone.filter(({ phase }) => phase === 'exited'),
    start,
    prospect: prospectOf(
      present.filter((one) => !gone.includes(one) && !replaced.includes(one)),
      start,
    ),
    isAwaitingGateway: replacedByNew.length < outdated.length && kept.some((one) => isRouted(one) && !isServing(one)),
    wakeAt: wakeAt(waiting, { desired, now, startsFrom }, start.length, lastResort.length > 0),
  };
}

/** When a replica that was ready and does not become ready again is given up. */
const givenUpAt = ({ phase, unreadySince }: ObservedReplica) =>
  phase === 'unready' && unreadySince !== null ? unreadySince + UNREADY_MS : Number.POSITIVE_INFINITY;

/** A replica that failed once is replaced at once and may be ready soon; after a second failure it may fail again. */
function prospectOf(staying: readonly ObservedReplica[], start: readonly PlannedStart[]): EndpointPlan['prospect'] {
  if (staying.some((one) => isRouted(one) || (one.exit === null && one.restarts < 2))) return 'available';
  const isNew = staying.length === 0 && start.length === 0;
  return isNew || start.some(({ restarts }) => restarts < 2) ? 'starting' : 'failing';
}

/** The gateway has reached it: it can take the requests of another. */
const isServing = (one: ObservedReplica) => isRouted(one) && one.serving === 'ready';

/** Outdated replicas that are not ready go at once; ready ones as far as enough others serve. */
function removableOutdated(
  outdated: readonly ObservedReplica[],
  kept: readonly ObservedReplica[],
  { maxUnavailable, replicas }: DesiredEndpoint,
): ObservedReplica[] {
  const serving = inRemovalOrder(outdated.filter(isRouted));
  const spare = kept.filter(isServing).length + serving.length - Math.max(0, replicas - maxUnavailable);
  return [...outdated.filter((one) => !isRouted(one)), ...serving.slice(0, Math.max(0, spare))];
}

/** Missing replicas, and replacements of exited ones whose back-off is over. */
function starts(
  kept: readonly ObservedReplica[],
  all: readonly ObservedReplica[],
  { desired, now, startsFrom }: Omit<PlanInput, 'replicas'>,
): PlannedStart[] {
  if (desired.specHash === null || now < startsFrom) return [];
  const running = all.filter(({ phase }) => phase !== 'exited').length;
  const exited = kept.filter(({ exit }) => exit !== null);
  const due = exited.filter((one) => now >= restartAfter(one).notBefore);
  // A replica in back-off keeps its place; otherwise a failing update would try one place after another.
  const room = Math.max(0, desired.replicas + desired.maxSurge - running - (exited.length - due.length));
  const wanted: PlannedStart[] = due.map((replaces) => ({ replaces, restarts: restartAfter(replaces).restarts }));
  for (let i = kept.length; i < desired.replicas; i++) wanted.push({ replaces: null, restarts: 0 });
  return wanted.slice(0, room);
}

function wakeAt(
  waiting: readonly ObservedReplica[],
  { desired, now, startsFrom }: Omit<PlanInput, 'replicas'>,
  started: number,
  isLastResort: boolean,
): number | null {
  const looks = isLastResort ? [now + LAST_RESORT_MS] : [];
  if (desired.specHash === null) return soonest([...looks, ...waiting.map(givenUpAt)], now);
  const times = waiting.filter(({ exit }) => exit !== null).map((one) => restartAfter(one).notBefore);
  times.push(...looks);
  const isShort = waiting.length + started < desired.replicas;
  if (isShort || times.length > 0) times.push(startsFrom);
  times.push(...waiting.map(givenUpAt));
  return soonest(times, now);
}

function soonest(times: readonly number[], now: number): number | null {
  const first = Math.min(...times.filter((time) => time > now));
  return Number.isFinite(first) ? first : null;
}

const REMOVAL_RANK: Readonly<Record<ObservedReplica['phase'], number>> = {
  exited: 0,
  stopping: 1,
  starting: 2,
  unready: 3,
  ready: 4,
};

/** Replicas that do not serve first, then those with the fewest requests, then the youngest. */
function inRemovalOrder(replicas: readonly ObservedReplica[]): ObservedReplica[] {
  return [...replicas].sort(
    (a, b) =>
      REMOVAL_RANK[a.phase] - REMOVAL_RANK[b.phase] ||
      Number(isServing(a)) - Number(isServing(b)) ||
      a.inFlight - b.inFlight ||
      b.startedAt - a.startedAt ||
      (a.id < b.id ? -1 : 1),
  );
}
