import { percentile } from '../../../kernel/percentile.js';

/** Per cent of requests, close together at the end where policies differ. */
export const QUANTILES: readonly number[] = [...Array.from({ length: 50 }, (_, i) => 2 * i), ...[99, 99.5, 99.9, 100]];

/** To the microsecond: finer differences come from interpolation. */
export function quantilesMs(us: Float64Array): number[] {
  const sorted = us.filter((value) => !Number.isNaN(value)).sort();
  if (sorted.length === 0) return [];
  return QUANTILES.map((p) => Math.round(percentile(sorted, p)) / 1000);
}
