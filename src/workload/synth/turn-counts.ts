import type { RandomStream } from '../../kernel/random-stream.js';
import { synthInvalid } from '../errors.js';
import { PUBLISHED } from './published.js';

/** With fewer sessions there is none above the 99th percentile. */
const FEWEST_SESSIONS = 101;
/** The exponent of the tail: sessions of 2 turns are about twice as many as those of 4. */
const TAIL = 1;

/**
 * How many turns each session has, fewest first. By rank, so that the quantiles hold for every seed: up to the 90th percentile
 * one turn, then a tail up to the 99th, and the few sessions above it have all requests that are left.
 */
export function turnCounts(sessions: number, requests: number, random: RandomStream): Int32Array {
  if (sessions < FEWEST_SESSIONS) {
    const problem = `${sessions} sessions have no 99th percentile`;
    throw synthInvalid('--sessions', problem, `give at least ${FEWEST_SESSIONS}`);
  }
  const { turnsP99 } = PUBLISHED;
  // Both usual readings of a percentile, nearest rank and between two ranks, find the published numbers.
  const long = sessions - 1 - Math.ceil(0.99 * (sessions - 1));
  const firstAtP99 = Math.floor(0.99 * (sessions - 1));
  const single = Math.ceil(0.9 * sessions) + 1;
  const counts = new Int32Array(sessions).fill(1, 0, single);
  counts.fill(turnsP99, firstAtP99, sessions - long);
  const middle = counts.subarray(single, firstAtP99);
  for (let i = 0; i < middle.length; i++) {
    middle[i] = Math.floor(paretoBetween(2, turnsP99, (i + random.next()) / middle.length));
  }
  const left = requests - counts.reduce((sum, turns) => sum + turns, 0);
  const least = long * (turnsP99 + 1);
  if (left < least) {
    const problem = `${requests} requests are too few for ${sessions} sessions with these quantiles`;
    throw synthInvalid('--requests', problem, `give at least ${requests + least - left}`);
  }
  shareOut(counts.subarray(sessions - long), left - least, turnsP99 + 1, random);
  return counts;
}

/** Gives every session `base` and divides the remainder by weights with the same tail. */
function shareOut(counts: Int32Array, rest: number, base: number, random: RandomStream): void {
  const weights = Float64Array.from(counts, (_, i) => paretoBetween(1, 2.5, (i + random.next()) / counts.length));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let given = 0;
  let weightGiven = 0;
  for (let i = 0; i < counts.length; i++) {
    weightGiven += weights[i]!;
    const upToHere = Math.round((rest * weightGiven) / total);
    counts[i] = base + upToHere - given;
    given = upToHere;
  }
}

/** The value below which a share `u` of a Pareto distribution cut to [low, high) lies. */
function paretoBetween(low: number, high: number, u: number): number {
  const a = low ** -TAIL;
  return (a - u * (a - high ** -TAIL)) ** (-1 / TAIL);
}
