import type { LiveReplica } from '../replica/live-replica.js';

/**
 * Why a replica may not take a request (of any model: null), or null when it may. The words are part of every
 * explanation.
 */
export function removal(replica: LiveReplica, model: string | null, nowMs: number): string | null {
  if (model !== null && !replica.models.has(model)) return `does not serve ${model}`;
  if (replica.state !== 'ready') return `${replica.state}: ${replica.problem}`;
  if (replica.breaker.isOpen && !replica.breaker.allows(nowMs)) return 'circuit breaker open';
  if (replica.pausedUntilMs > nowMs) return 'rate limited';
  if (replica.weight === 0) return 'weight 0';
  return null;
}

/** Whether a replica has been ready long enough to get its full share. */
export function isWarm(replica: LiveReplica, nowMs: number, slowStartMs: number): boolean {
  return nowMs - replica.readySinceMs >= slowStartMs;
}

/**
 * Whether a replica that has just joined has enough for now: its caches are cold, so at first it gets a small share of
 * what the warm ones have in flight each, and a growing one.
 */
export function hasEnough(
  replica: LiveReplica,
  inFlight: number,
  warmMean: number,
  nowMs: number,
  slowStartMs: number,
): boolean {
  return inFlight >= Math.max(1, (warmMean * (nowMs - replica.readySinceMs)) / slowStartMs);
}

/**
 * Notes for every replica, by slot, why it may not take a request, and null where it may.
 * @param tried replicas that have failed the request
 * @param brokenHosts hosts of those that broke off
 * @param inFlight requests that each has, by slot
 */
export function findRemovals(
  replicas: readonly LiveReplica[],
  model: string,
  nowMs: number,
  tried: readonly LiveReplica[],
  brokenHosts: readonly string[],
  inFlight: Int32Array,
  slowStartMs: number,
  out: (string | null)[],
): void {
  out.length = replicas.length;
  let cold = 0;
  let warm = 0;
  let load = 0;
  const avoidsHosts = brokenHosts.length > 0 && hasOtherHost(replicas, model, nowMs, tried, brokenHosts);
  for (let slot = 0; slot < replicas.length; slot++) {
    const replica = replicas[slot]!;
    out[slot] = tried.includes(replica) ? 'tried before' : removal(replica, model, nowMs);
    if (out[slot] === null && avoidsHosts && brokenHosts.includes(replica.host)) out[slot] = 'on a host that failed';
    if (out[slot] !== null) continue;
    if (!isWarm(replica, nowMs, slowStartMs)) cold++;
    else {
      warm++;
      load += inFlight[slot]!;
    }
  }
  // New replicas give way to others, not to each other.
  if (cold === 0 || warm === 0) return;
  for (let slot = 0; slot < replicas.length; slot++) {
    const replica = replicas[slot]!;
    if (out[slot] !== null || isWarm(replica, nowMs, slowStartMs)) continue;
    if (hasEnough(replica, inFlight[slot]!, load / warm, nowMs, slowStartMs)) out[slot] = 'slow start';
  }
}

/**
 * The replicas of a lost machine end one after the other: a request that followed them would use up its retries. It goes to
 * another host where one can take it.
 */
function hasOtherHost(
  replicas: readonly LiveReplica[],
  model: string,
  nowMs: number,
  tried: readonly LiveReplica[],
  brokenHosts: readonly string[],
): boolean {
  return replicas.some(
    (replica) =>
      !brokenHosts.includes(replica.host) && !tried.includes(replica) && removal(replica, model, nowMs) === null,
  );
}

/** Milliseconds until a replica that has asked for a pause takes requests again; infinite when none has. */
export function shortestPause(replicas: readonly LiveReplica[], model: string, nowMs: number): number {
  let pauseMs = Number.POSITIVE_INFINITY;
  for (const replica of replicas) {
    const { pausedUntilMs } = replica;
    if (pausedUntilMs <= nowMs || removal(replica, model, pausedUntilMs) !== null) continue;
    pauseMs = Math.min(pauseMs, pausedUntilMs - nowMs);
  }
  return pauseMs;
}

/**
 * Whether a replica other than `last` and those that were tried could take a request now.
 * @param isSuspect by slot; replicas that are suspect do not count
 */
export function hasOtherReplica(
  replicas: readonly LiveReplica[],
  model: string,
  tried: readonly LiveReplica[],
  last: LiveReplica | null,
  nowMs: number,
  isSuspect: (slot: number) => boolean = () => false,
): boolean {
  return replicas.some(
    (replica, slot) =>
      replica !== last && !tried.includes(replica) && !isSuspect(slot) && removal(replica, model, nowMs) === null,
  );
}
