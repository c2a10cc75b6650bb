/** How a measure of one variant differs from that of another under the same workloads and seeds. */
export interface PairedDifference {
  mean: number;
  /** Ends of the 95 % confidence interval of the mean difference; null for a single pair. */
  low: number | null;
  high: number | null;
}

/**
 * The mean of the differences pair by pair, with its interval by Student's t: what all runs of a seed share (its long
 * prompts, its bursts) cancels out, and a few seeds separate small differences from noise.
 */
export function pairedDifference(values: readonly number[], others: readonly number[]): PairedDifference {
  const n = values.length;
  const differences = values.map((value, i) => value - others[i]!);
  const mean = differences.reduce((sum, d) => sum + d, 0) / n;
  const half = meanHalfWidth(differences, mean);
  if (half === null) return { mean, low: null, high: null };
  // Measures are never below 0, so a difference is never below minus the others' mean.
  const least = -others.reduce((sum, other) => sum + other, 0) / n;
  return { mean, low: Math.max(least, mean - half), high: mean + half };
}

/** How many times the other one measure is, with its interval: both are positive. */
export interface PairedRatio {
  ratio: number;
  /** Ends of the 95 % confidence interval; null for a single pair. */
  low: number | null;
  high: number | null;
}

/**
 * The geometric mean of the ratios pair by pair, with its interval by Student's t over logarithms. Latencies are skewed: one
 * seed with a long queue would widen an interval of differences past 0, however clear every pair is. Null where a value is 0.
 */
export function pairedRatio(values: readonly number[], others: readonly number[]): PairedRatio | null {
  if ([...values, ...others].some((value) => !(value > 0))) return null;
  const logs = values.map((value, i) => Math.log(value / others[i]!));
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const half = meanHalfWidth(logs, mean);
  return {
    ratio: Math.exp(mean),
    low: half === null ? null : Math.exp(mean - half),
    high: half === null ? null : Math.exp(mean + half),
  };
}

/** Half of the interval of a mean; null for a single value. */
export function meanHalfWidth(values: readonly number[], mean: number): number | null {
  const n = values.length;
  if (n < 2) return null;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return studentT975(n - 1) * Math.sqrt(squares / (n - 1) / n);
}

/** By degrees of freedom from 1. */
const T975 = [
  12.7062047, 4.3026527, 3.1824463, 2.7764451, 2.5705818, 2.4469119, 2.3646243, 2.3060041, 2.2621572, 2.2281389,
  2.2009852, 2.1788128, 2.1603687, 2.1447867, 2.1314495, 2.1199053, 2.1098156, 2.100922, 2.0930241, 2.0859634,
  2.0796138, 2.0738731, 2.0686576, 2.0638986, 2.0595386, 2.0555294, 2.0518305, 2.0484071, 2.0452296, 2.0422725,
];
/** The same of the normal distribution. */
const Z975 = 1.959963985;

/** The 97.5th percentile of Student's t: from a table, beyond it by its expansion around the normal (to five digits). */
export function studentT975(freedom: number): number {
  const known = T975[freedom - 1];
  if (known !== undefined) return known;
  const z = Z975;
  const first = (z ** 3 + z) / 4;
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  return z + first / freedom + second / freedom ** 2;
}
