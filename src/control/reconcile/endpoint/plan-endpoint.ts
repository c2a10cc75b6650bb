import {
  type DesiredEndpoint,
  type EndpointPlan,
  isRouted,
  type ObservedReplica,
  type StartedInPlace,
} from './endpoint-state.js';
import { restartAfter } from './restart.js';

/** How long a replica that was ready may take to be so again. */
const UNWELL_MS = 120_000;

export interface PlanInput {
  readonly desired: DesiredEndpoint;
  readonly replicas: readonly ObservedReplica[];
  readonly now: number;
  /** Nothing is started before this: the last start failed. */
  readonly startsFrom: number;
}

/**
 * What to do next about an endpoint's replicas, from nothing but what is wanted and what there is. It is asked again after
 * whatever happens, and need not remember what it said. It promises:
 *
 * - only who is ready is routed to;
 * - nobody who is ready is told to leave if fewer than `replicas - maxUnavailable` would be left;
 * - nobody who has been ready is given up while another one leaves: if all are slow to answer, they are not all ended;
 * - nobody is started if more than `replicas + maxSurge` processes would run, those that are leaving included.
 */
export function planEndpoint({ desired, now, replicas, startsFrom }: PlanInput): EndpointPlan {
  const here = replicas.filter(({ isLeaving }) => !isLeaving);
  // While it cannot be said what they should be, they are as good as any.
  const isCurrent = ({ specHash }: ObservedReplica) => desired.specHash === null || specHash === desired.specHash;
  const current = here.filter(isCurrent);
  const old = here.filter((one) => !isCurrent(one));
  const surplus = inOrderOfLoss(current).slice(0, Math.max(0, current.length - desired.replicas));
  const needed = current.filter((one) => !surplus.includes(one));
  const hopeless = here.length === replicas.length ? needed.filter((one) => now >= givenUpAt(one)).slice(0, 1) : [];
  const kept = needed.filter((one) => !hopeless.includes(one));
  const gone = [...surplus, ...hopeless, ...leavingOld(old, kept, desired)];
  const start = starts(kept, replicas, { desired, now, startsFrom });
  const replaced = start.map(({ instead }) => instead);
  const waiting = kept.filter((one) => !replaced.includes(one));
  return {
    routed: here.filter((one) => isRouted(one) && !gone.includes(one)),
    leave: gone.filter(({ phase }) => phase !== 'exited'),
    forget: gone.filter(({ phase }) => phase === 'exited'),
    start,
    prospect: prospectOf(
      here.filter((one) => !gone.includes(one) && !replaced.includes(one)),
      start,
    ),
    wakeAt: wakeAt(waiting, { desired, now, startsFrom }, start.length),
  };
}

/** When one that was well once and does not come back is given up. */
const givenUpAt = ({ phase, unwellSince }: ObservedReplica) =>
  phase === 'unready' && unwellSince !== null ? unwellSince + UNWELL_MS : Number.POSITIVE_INFINITY;

/** What failed once is started again at once, and may be ready soon; what failed again waits, and may fail again. */
function prospectOf(staying: readonly ObservedReplica[], start: readonly StartedInPlace[]): EndpointPlan['prospect'] {
  if (staying.some((one) => isRouted(one) || (one.exit === null && one.restarts < 2))) return 'here';
  const isNew = staying.length === 0 && start.length === 0;
  return isNew || start.some(({ restarts }) => restarts < 2) ? 'starting' : 'failing';
}

/** Old ones that serve nobody go; those that serve go as far as others can do without them. */
function leavingOld(
  old: readonly ObservedReplica[],
  kept: readonly ObservedReplica[],
  { maxUnavailable, replicas }: DesiredEndpoint,
): ObservedReplica[] {
  const serving = inOrderOfLoss(old.filter(isRouted));
  const spare = kept.filter(isRouted).length + serving.length - Math.max(0, replicas - maxUnavailable);
  return [...old.filter((one) => !isRouted(one)), ...serving.slice(0, Math.max(0, spare))];
}

/** Places that nobody has get somebody, and those whose holder has exited get another one when it is time. */
function starts(
  kept: readonly ObservedReplica[],
  all: readonly ObservedReplica[],
  { desired, now, startsFrom }: Omit<PlanInput, 'replicas'>,
): StartedInPlace[] {
  if (desired.specHash === null || now < startsFrom) return [];
  const running = all.filter(({ phase }) => phase !== 'exited').length;
  const exited = kept.filter(({ exit }) => exit !== null);
  const due = exited.filter((one) => now >= restartAfter(one).notBefore);
  // Who waits for its time has its place, or an update that fails would try place after place.
  const room = Math.max(0, desired.replicas + desired.maxSurge - running - (exited.length - due.length));
  const wanted: StartedInPlace[] = due.map((instead) => ({ instead, restarts: restartAfter(instead).restarts }));
  for (let i = kept.length; i < desired.replicas; i++) wanted.push({ instead: null, restarts: 0 });
  return wanted.slice(0, room);
}

function wakeAt(
  waiting: readonly ObservedReplica[],
  { desired, now, startsFrom }: Omit<PlanInput, 'replicas'>,
  started: number,
): number | null {
  if (desired.specHash === null) return soonest(waiting.map(givenUpAt), now);
  const times = waiting.filter(({ exit }) => exit !== null).map((one) => restartAfter(one).notBefore);
  const isShort = waiting.length + started < desired.replicas;
  if (isShort || times.length > 0) times.push(startsFrom);
  times.push(...waiting.map(givenUpAt));
  return soonest(times, now);
}

function soonest(times: readonly number[], now: number): number | null {
  const first = Math.min(...times.filter((time) => time > now));
  return Number.isFinite(first) ? first : null;
}

const LOSS: Readonly<Record<ObservedReplica['phase'], number>> = {
  exited: 0,
  stopping: 1,
  starting: 2,
  unready: 3,
  ready: 4,
};

/** Those first whom nobody will miss: who serves nobody, then who has the fewest requests, then the youngest. */
function inOrderOfLoss(replicas: readonly ObservedReplica[]): ObservedReplica[] {
  return [...replicas].sort(
    (a, b) =>
      LOSS[a.phase] - LOSS[b.phase] || a.inFlight - b.inFlight || b.startedAt - a.startedAt || (a.id < b.id ? -1 : 1),
  );
}
