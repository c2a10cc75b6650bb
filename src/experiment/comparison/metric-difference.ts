import type { Metric, MetricKey } from '../metrics.js';
import type { ComparedVariant } from './comparison.js';
import { type PairedDifference, pairedDifference } from './paired-difference.js';

/**
 * better and worse: the interval excludes 0; noise: it does not; same: no pair differs; once: one pair, so there is no
 * interval.
 */
export type Verdict = 'better' | 'worse' | 'noise' | 'same' | 'once';

/** How a variant's measure differs from that of the variant it is compared with. */
export interface MetricDifference {
  variant: string;
  against: string;
  metric: MetricKey;
  mean: number;
  reference: number;
  difference: number;
  low: number | null;
  high: number | null;
  /** The difference over the reference; null when that is 0. */
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
      const paired = pairedDifference(own.by_seed, other.by_seed);
      return {
        variant: variant.name,
        against: reference.name,
        metric: metric.key,
        mean: own.mean,
        reference: other.mean,
        difference: paired.mean,
        low: paired.low,
        high: paired.high,
        relative: other.mean === 0 ? null : paired.mean / other.mean,
        pairs: own.by_seed.length,
        higher: own.by_seed.filter((value, i) => value > other.by_seed[i]!).length,
        verdict: verdictOf(metric, paired, own.by_seed, other.by_seed),
      };
    });
  });
}

function verdictOf(
  { better }: Metric,
  { mean, low, high }: PairedDifference,
  values: readonly number[],
  others: readonly number[],
): Verdict {
  if (values.every((value, i) => value === others[i])) return 'same';
  if (low === null || high === null) return 'once';
  if (low <= 0 && high >= 0) return 'noise';
  return mean < 0 === (better === 'less') ? 'better' : 'worse';
}
