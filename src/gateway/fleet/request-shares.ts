import type { RandomStream } from '../../kernel/random-stream.js';
import type { LiveReplica } from './live-replica.js';

/** Whether tiers or weights tell any of these apart: as a rule they do not, and nobody need ask further. */
export function hasShares(replicas: readonly LiveReplica[]): boolean {
  return replicas.some(({ tier, weight }) => tier !== 0 || weight !== 1);
}

/**
 * Of the replicas that may take a request, leaves those of the lowest tier and, where their weights differ, one of them, drawn
 * in proportion. The policy chooses among what is left, so weights hold whichever policy it is; where they are equal, they say
 * nothing, and the choice is the policy's.
 * @param removed by slot: why the replica may not take it, null where it may
 */
export function applyShares(replicas: readonly LiveReplica[], removed: (string | null)[], random: RandomStream): void {
  const tier = lowestTier(replicas, removed);
  let sum = 0;
  let weight = -1;
  let isEqual = true;
  for (let slot = 0; slot < replicas.length; slot++) {
    if (removed[slot] !== null) continue;
    const replica = replicas[slot]!;
    if (replica.tier > tier) removed[slot] = `tier ${replica.tier}: tier ${tier} can take it`;
    else {
      isEqual &&= weight < 0 || weight === replica.weight;
      weight = replica.weight;
      sum += weight;
    }
  }
  if (!isEqual) draw(replicas, removed, random.next() * sum);
}

/** Takes tiers that are not asked out of a fleet that is looked at as a whole. */
export function keepLowestTier(replicas: readonly LiveReplica[], eligible: Uint8Array): void {
  let tier = Number.POSITIVE_INFINITY;
  for (let slot = 0; slot < replicas.length; slot++) {
    if (eligible[slot] === 1) tier = Math.min(tier, replicas[slot]!.tier);
  }
  for (let slot = 0; slot < replicas.length; slot++) if (replicas[slot]!.tier > tier) eligible[slot] = 0;
}

function lowestTier(replicas: readonly LiveReplica[], removed: readonly (string | null)[]): number {
  let tier = Number.POSITIVE_INFINITY;
  for (let slot = 0; slot < replicas.length; slot++) {
    if (removed[slot] === null) tier = Math.min(tier, replicas[slot]!.tier);
  }
  return tier;
}

/** @param lot from 0 up to the sum of the weights */
function draw(replicas: readonly LiveReplica[], removed: (string | null)[], lot: number): void {
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
  // What is lost in adding up is nobody's but the last one's.
  if (!isDrawn) removed[last] = null;
}
