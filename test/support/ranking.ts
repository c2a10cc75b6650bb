import { pairedDifference } from '../../src/experiment/comparison/paired-difference.js';

/** Parts of a run in order of arrival, the same in all runs: a difference has an interval by those of its parts. */
const PARTS = 10;

/** A measure of each request, in order of arrival, by policy: all runs have the same requests. */
export type Measured = ReadonlyMap<string, readonly number[]>;

export const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Whether one policy has the lower mean, beyond the 95 % interval of their difference. */
export function isClearlyLower(runs: Measured, policy: string, other: string): boolean {
  const { high } = pairedDifference(partMeans(runs.get(policy)!), partMeans(runs.get(other)!));
  return high! < 0;
}

/** How many policies are clearly lower than each: those whose difference is inside its interval rank equal. */
export function clearRanks(runs: Measured): number[] {
  const names = [...runs.keys()];
  return names.map((name) => names.filter((other) => other !== name && isClearlyLower(runs, other, name)).length);
}

export function plainRanks(runs: Measured): number[] {
  const means = [...runs.values()].map(meanOf);
  return means.map((mean) => means.filter((other) => other < mean).length);
}

/** The policy with the least mean. */
export function lowest(runs: Measured): string {
  return [...runs].reduce((a, b) => (meanOf(b[1]) < meanOf(a[1]) ? b : a))[0];
}

/** Pearson's; of ranks, Spearman's. */
export function correlation(a: readonly number[], b: readonly number[]): number {
  const [meanA, meanB] = [meanOf(a), meanOf(b)];
  const sum = (of: (i: number) => number) => a.reduce((total, _, i) => total + of(i), 0);
  const [varianceA, varianceB] = [sum((i) => (a[i]! - meanA) ** 2), sum((i) => (b[i]! - meanB) ** 2)];
  return sum((i) => (a[i]! - meanA) * (b[i]! - meanB)) / Math.sqrt(varianceA * varianceB);
}

function partMeans(values: readonly number[]): number[] {
  const edge = (part: number) => Math.round((part * values.length) / PARTS);
  return Array.from({ length: PARTS }, (_, part) => meanOf(values.slice(edge(part), edge(part + 1))));
}
