import type { CountedValues } from '../../kernel/counted-values.js';

/** Mean and quantiles of one latency in milliseconds; all zero when nothing was measured. */
export interface LatencySpread {
  mean: number;
  p50: number;
  p90: number;
  p95: number;
  p99: number;
  min: number;
  max: number;
}

export const NO_SPREAD: LatencySpread = { mean: 0, p50: 0, p90: 0, p95: 0, p99: 0, min: 0, max: 0 };

/** Interpolated percentile in ms of sorted microseconds. The order of operations is part of the promise: results are compared bit for bit. */
function percentileMs(at: (index: number) => number, n: number, p: number): number {
  const rank = (p / 100) * (n - 1);
  const low = Math.floor(rank);
  const high = Math.ceil(rank);
  if (low === high) return at(low) / 1000;
  return at(low) / 1000 + ((at(high) - at(low)) * (rank - low)) / 1000;
}

function spreadOf(at: (index: number) => number, n: number, sum: number): LatencySpread {
  if (n === 0) return NO_SPREAD;
  return {
    mean: sum / n / 1000,
    p50: percentileMs(at, n, 50),
    p90: percentileMs(at, n, 90),
    p95: percentileMs(at, n, 95),
    p99: percentileMs(at, n, 99),
    min: at(0) / 1000,
    max: at(n - 1) / 1000,
  };
}

export function spreadOfSorted(sortedUs: Float64Array): LatencySpread {
  let sum = 0;
  for (let i = 0; i < sortedUs.length; i++) sum += sortedUs[i]!;
  return spreadOf((i) => sortedUs[i]!, sortedUs.length, sum);
}

/** Spread of gaps between tokens; `overheadUs` is added to each. */
export function spreadOfGaps(gaps: CountedValues, overheadUs: number): LatencySpread {
  return spreadOf((i) => gaps.at(i) + overheadUs, gaps.total, gaps.sum + gaps.total * overheadUs);
}

export function p99Ms(sortedUs: Float64Array): number {
  return sortedUs.length === 0 ? 0 : percentileMs((i) => sortedUs[i]!, sortedUs.length, 99);
}

/** `{e2e_mean_ms: ..., e2e_p50_ms: ...}`: a spread under the keys of the result document. */
export function spreadKeys<Name extends string>(
  name: Name,
  spread: LatencySpread,
): Record<`${Name}_${keyof LatencySpread}_ms`, number> {
  const entries = Object.entries(spread).map(([key, value]) => [`${name}_${key}_ms`, value]);
  return Object.fromEntries(entries);
}
