import { mean, percentile } from '../../../kernel/percentile.js';

/** How far two runs of the same requests are apart, as shares: their means, medians and 90th percentiles, and the median request. */
export interface Repeatability {
  mean: number;
  median: number;
  p90: number;
  request: number;
}

export type Grade = 'excellent' | 'good' | 'fair' | 'poor' | 'too few';

/** A prediction's errors next to what the hardware itself repeats. Those of mean, median and p90 are signed. */
export interface RepeatComparison {
  error: Record<keyof Repeatability, number | null>;
  repeat: Repeatability;
  /** The largest error, in repeats; null when nothing above zero was measured. */
  times: number | null;
  grade: Grade;
}

/**
 * The same run twice on the same H200, at 60 and 85 % of its capacity, the larger of the two: one pair each, so an order of
 * magnitude. Near saturation small differences in step time grow, and repeats differ by more.
 */
export const USUAL_REPEATABILITY: Readonly<Record<'ttft' | 'e2e' | 'itl', Repeatability>> = {
  ttft: { mean: 0.014, median: 0.01, p90: 0.021, request: 0.088 },
  e2e: { mean: 0.017, median: 0.016, p90: 0.02, request: 0.019 },
  itl: { mean: 0.017, median: 0.014, p90: 0.035, request: 0.019 },
};

/** No measurement repeats itself better than this; a smaller share is chance. */
const LEAST_REPEAT = 0.001;

/** Each grade with the most repeats that its largest error may be. */
export const GRADE_LIMITS: readonly [grade: Grade, times: number][] = [
  ['excellent', 2],
  ['good', 5],
  ['fair', 10],
];

const FIGURES = ['mean', 'median', 'p90', 'request'] as const;

/** Errors of `sim` against `real`, request by request in the same order, graded by what a repeat differs. */
export function compareWithRepeat(
  real: Float64Array,
  sim: Float64Array,
  repeat: Repeatability,
  least: number,
): RepeatComparison {
  const error = errorsOf(real, sim);
  const times = FIGURES.map((figure) =>
    error[figure] === null ? null : Math.abs(error[figure]) / Math.max(LEAST_REPEAT, repeat[figure]),
  );
  const worst = times.some((one) => one === null) ? null : Math.max(...(times as number[]));
  const grade = GRADE_LIMITS.find(([, limit]) => worst !== null && worst <= limit)?.[0] ?? 'poor';
  return { error, repeat, times: worst, grade: real.length < least || worst === null ? 'too few' : grade };
}

/** What two measurements of the same requests, in the same order, differ. */
export function repeatabilityOf(first: Float64Array, second: Float64Array): Repeatability {
  const error = errorsOf(first, second);
  return Object.fromEntries(
    FIGURES.map((figure) => [figure, Math.abs(error[figure] ?? 0)]),
  ) as unknown as Repeatability;
}

function errorsOf(real: Float64Array, sim: Float64Array): RepeatComparison['error'] {
  const [a, b] = [real.slice().sort(), sim.slice().sort()];
  const share = (was: number, said: number) => (was === 0 ? null : (said - was) / was);
  const shares = Float64Array.from(real, (was, i) => Math.abs(sim[i]! - was) / was)
    .filter((one) => Number.isFinite(one))
    .sort();
  return {
    mean: share(mean(real), mean(sim)),
    median: share(percentile(a, 50), percentile(b, 50)),
    p90: share(percentile(a, 90), percentile(b, 90)),
    request: shares.length === 0 ? null : percentile(shares, 50),
  };
}
