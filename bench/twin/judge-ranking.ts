import {
  clearRanks,
  correlation,
  isClearlyLower,
  lowest,
  type Measured,
  meanOf,
  plainRanks,
} from '../../test/support/ranking.js';
import type { Times } from './unlike-fleet.js';

const LEAST_CORRELATION = 0.8;
const LEAST_ALIKE = 0.95;

/** A policy in both worlds, under the same requests. */
export interface RankedPolicy {
  readonly policy: string;
  readonly simulated: Times;
  readonly live: Times;
}

/**
 * Whether both worlds rank policies alike by mean E2E. Policies whose difference is inside its 95 % interval rank equal.
 * @param best has to have the least E2E in both worlds
 */
export function judgeRanking(rows: readonly RankedPolicy[], best: string, say: (line: string) => void): boolean {
  const there: Measured = new Map(rows.map(({ policy, simulated }) => [policy, simulated.e2e]));
  const here: Measured = new Map(rows.map(({ live, policy }) => [policy, live.e2e]));
  const names = rows.map(({ policy }) => policy);
  const ranks = correlation(clearRanks(there), clearRanks(here));
  const plain = correlation(plainRanks(there), plainRanks(here));
  const pairs = names.flatMap((a) =>
    names.filter((b) => b !== a && isClearlyLower(there, a, b)).map((b) => [a, b] as const),
  );
  const alike = pairs.filter(([a, b]) => meanOf(here.get(a)!) < meanOf(here.get(b)!)).length;
  const opposite = pairs.filter(([a, b]) => isClearlyLower(here, b, a));
  const [first, second] = [lowest(there), lowest(here)];
  const near = names.filter((name) => name !== second && !isClearlyLower(here, second, name));
  const holds = first === best && second === best && ranks >= LEAST_CORRELATION && alike >= LEAST_ALIKE * pairs.length;
  say(
    `\nleast E2E: ${first} simulated, ${second} live${near.length === 0 ? ', clearly' : ` (not clearly less than ${near.join(', ')})`}`,
  );
  say(
    `rank correlation ${ranks.toFixed(2)} with policies equal whose difference is inside its interval ` +
      `(at least ${LEAST_CORRELATION}), ${plain.toFixed(2)} by means alone`,
  );
  say(
    `pairs of policies that differ clearly when simulated: ${alike} of ${pairs.length} have the same order live ` +
      `(at least ${100 * LEAST_ALIKE} %), ${opposite.length} clearly the opposite one` +
      opposite.map(([a, b]) => `; ${a} before ${b}`).join(''),
  );
  say(holds ? 'the two worlds agree' : 'the two worlds differ: MISSED');
  return holds;
}
