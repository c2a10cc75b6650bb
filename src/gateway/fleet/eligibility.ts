import type { LiveReplica } from './live-replica.js';

/** Why a replica may not take a request, or null when it may. The words are part of every explanation. */
export function removal(replica: LiveReplica, model: string, nowMs: number): string | null {
  if (!replica.models.has(model)) return `does not serve ${model}`;
  if (replica.state !== 'ready') return `${replica.state}: ${replica.problem}`;
  if (!replica.breaker.allows(nowMs)) return 'circuit breaker open';
  return null;
}

/** Whether a replica has been there long enough to get its full share. */
export function isWarm(replica: LiveReplica, nowMs: number, slowStartMs: number): boolean {
  return nowMs - replica.readySinceMs >= slowStartMs;
}

/**
 * Whether a replica that has just joined has enough for now: its caches are cold, so at first it gets a small share of what
 * the warm ones have in flight each, and a growing one.
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
