import type { Metric, MetricKey } from '../metrics.js';
import type { ComparedVariant } from './comparison.js';
import { type PairedDifference, pairedDifference, pairedRatio } from './paired-difference.js';

/**
 * better and worse: the interval excludes 0; likely-better and likely-worse: it does not, but every pair differs in the same
 * direction, so only the size is uncertain; noise: neither; same: no pair differs; once: one pair, so there is no interval.
 */
export type Verdict = 'better' | 'worse' | 'likely-better' | 'likely-worse' | 'noise' | 'same' | 'once';

/** Fewer pairs agree by chance too often. */
const LEAST_AGREEING = 3;

/** How a variant's measure differs from that of the variant it is compared with. */
export interface MetricDifference {
  variant: string;
  against: string;
  metric: MetricKey;
  mean: number;
  reference: number;
  /** The mean difference, and the ends of its interval; those of latencies come from ratios. */
  difference: number;
  low: number | null;
  high: number | null;
  /** The difference over the reference; of latencies the mean ratio of pairs minus 1. Null when the reference is 0. */
  relative: number | null;
  /** Runs compared, and in how many of them the variant's value was the higher one. */
  pairs: number;
  higher: number;
  verdict: Verdict;
}

/** Of every variant that is measured against another, every measure that both have. */
export function differencesOf(variants: readonly ComparedVariant[], metrics: readonly Metric[]): MetricDifference[] {
  const byName = new Map(variants.map((variant) => [variant.name, variant]));
  return variants.flatMap((variant) => {
    const reference = variant.against === null ? undefined : byName.get(variant.against);
    if (reference === undefined) return [];
    return metrics.flatMap((metric) => {
      const own = variant.metrics[metric.key] ?? null;
      const other = reference.metrics[metric.key] ?? null;
      if (own === null || other === null) return [];
      const paired = pairedOf(metric, own.by_seed, other.by_seed, other.mean);
      return {
        variant: variant.name,
        against: reference.name,
        metric: metric.key,
        mean: own.mean,
        reference: other.mean,
        difference: paired.mean,
        low: paired.low,
        high: paired.high,
        relative: paired.relative,
        pairs: own.by_seed.length,
        higher: own.by_seed.filter((value, i) => value > other.by_seed[i]!).length,
        verdict: verdictOf(metric, paired, own.by_seed, other.by_seed),
      };
    });
  });
}

/** Latencies by the ratios of pairs, others by their differences. */
function pairedOf(
  { unit }: Metric,
  values: readonly number[],
  others: readonly number[],
  reference: number,
): PairedDifference & { relative: number | null } {
  const paired = pairedDifference(values, others);
  const ratio = unit === 'ms' ? pairedRatio(values, others) : null;
  if (ratio === null) return { ...paired, relative: reference === 0 ? null : paired.mean / reference };
  const atReference = (times: number | null) => (times === null ? null : (times - 1) * reference);
  return {
    mean: paired.mean,
    low: atReference(ratio.low),
    high: atReference(ratio.high),
    relative: ratio.ratio - 1,
  };
}

function verdictOf(
  { better }: Metric,
  { low, high }: PairedDifference,
  values: readonly number[],
  others: readonly number[],
): Verdict {
  const higher = values.filter((value, i) => value > others[i]!).length;
  const lower = values.filter((value, i) => value < others[i]!).length;
  if (higher + lower === 0) return 'same';
  if (low === null || high === null) return 'once';
  const isBetter = (isLower: boolean) => isLower === (better === 'less');
  if (high < 0 || low > 0) return isBetter(high < 0) ? 'better' : 'worse';
  const agreeing = Math.max(higher, lower);
  if (agreeing < values.length || agreeing < LEAST_AGREEING) return 'noise';
  return isBetter(lower > 0) ? 'likely-better' : 'likely-worse';
}
