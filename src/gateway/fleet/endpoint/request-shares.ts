import type { RandomStream } from '../../../kernel/random-stream.js';
import type { LiveReplica } from '../replica/live-replica.js';

/** Why a replica may not take a request, by slot; null where it may. */
type Removed = (string | null)[];

/** Whether any of these differ in tier or weight; usually they do not, and shares need not be applied. */
export function hasShares(replicas: readonly LiveReplica[]): boolean {
  return replicas.some(({ tier, weight }) => tier !== 0 || weight !== 1);
}

/**
 * Of the eligible replicas, keeps those of the lowest tier and, where their weights differ, one of them, drawn in
 * proportion. The policy chooses among the rest, so weights hold with every policy; equal weights leave the choice to
 * the policy.
 */
export function applyShares(replicas: readonly LiveReplica[], removed: Removed, random: RandomStream): void {
  keepLowestTier(replicas, removed);
  let sum = 0;
  let weight = -1;
  let isEqual = true;
  for (let slot = 0; slot < replicas.length; slot++) {
    if (removed[slot] !== null) continue;
    isEqual &&= weight < 0 || weight === replicas[slot]!.weight;
    weight = replicas[slot]!.weight;
    sum += weight;
  }
  if (!isEqual) draw(replicas, removed, random.next() * sum);
}

/** Removes the eligible replicas of all tiers but the lowest. */
export function keepLowestTier(replicas: readonly LiveReplica[], removed: Removed): void {
  let lowest = Number.POSITIVE_INFINITY;
  for (let slot = 0; slot < replicas.length; slot++) {
    if (removed[slot] === null) lowest = Math.min(lowest, replicas[slot]!.tier);
  }
  for (let slot = 0; slot < replicas.length; slot++) {
    const { tier } = replicas[slot]!;
    if (removed[slot] === null && tier > lowest) removed[slot] = `tier ${tier}: tier ${lowest} can take it`;
  }
}

/** @param lot from 0 up to the sum of the weights */
function draw(replicas: readonly LiveReplica[], removed: Removed, lot: number): void {
  let left = lot;
  let last = -1;
  let isDrawn = false;
  for (let slot = 0; slot < replicas.length; slot++) {
    if (removed[slot] !== null) continue;
    left -= replicas[slot]!.weight;
    if (!isDrawn && left < 0) isDrawn = true;
    else removed[slot] = 'another was drawn by weight';
    last = slot;
  }
  // Rounding may leave a remainder: it goes to the last replica.
  if (!isDrawn) removed[last] = null;
}
