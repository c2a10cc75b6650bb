import { mean, percentile } from '../../../kernel/percentile.js';
import type { PredictionInterval } from './prediction-interval.js';
import type { Grade, RepeatComparison } from './repeatability.js';

export const LEVELS = ['mean', 'median', 'p50', 'p90', 'p95', 'p99'] as const;

export type Level = (typeof LEVELS)[number];

/** Statistics of both sides; errors are predicted less measured, and their size as a share of what was measured. */
export type WorkloadLevel = Record<`${'real' | 'sim'}_${Level}` | `${Level}_error`, number> &
  Record<`${Level}_percent_error`, number | null>;

/** How well single requests are predicted. */
export interface RequestLevel {
  /** Null when nothing above zero was measured. */
  mape: number | null;
  pearson_r: number;
  bias_direction: 'over-predict' | 'under-predict' | 'neutral';
  quality: Grade;
}

export interface MetricComparison {
  workload_level: WorkloadLevel;
  request_level: RequestLevel;
  count: number;
}

/** The same with what is not part of the common report format. */
export interface GradedMetric extends MetricComparison {
  against_repeat: RepeatComparison;
  /** Absent for too few requests. */
  interval?: PredictionInterval;
}

/** Fewer requests than this give no correlation, and are not graded. */
export const LEAST_TO_JUDGE = 3;

/** Each grade with the error it must stay below and the correlation it must exceed. */
const GRADES: readonly [grade: Grade, below: number, above: number][] = [
  ['excellent', 0.1, 0.95],
  ['good', 0.2, 0.85],
  ['fair', 0.35, 0.7],
];

/** Compares what was measured with what was predicted, request by request: both lists are in the same order. */
export function compareMetric(real: Float64Array, sim: Float64Array): MetricComparison {
  const mape = meanAbsoluteShare(real, sim);
  const r = pearson(real, sim);
  return {
    workload_level: workloadLevel(real, sim),
    request_level: {
      mape,
      pearson_r: r,
      bias_direction: biasDirection(real, sim),
      quality: grade(mape, r, real.length),
    },
    count: real.length,
  };
}

function workloadLevel(real: Float64Array, sim: Float64Array): WorkloadLevel {
  const sorted = { real: real.slice().sort(), sim: sim.slice().sort() };
  const at = (values: Float64Array, level: Level) =>
    level === 'mean' ? mean(values) : percentile(values, level === 'median' ? 50 : Number(level.slice(1)));
  const entries = LEVELS.flatMap((level): [string, number | null][] => {
    const [was, said] = [at(sorted.real, level), at(sorted.sim, level)];
    const error = said - was;
    return [
      [`real_${level}`, was],
      [`sim_${level}`, said],
      [`${level}_error`, error],
      [`${level}_percent_error`, was === 0 ? null : Math.abs(error) / was],
    ];
  });
  return Object.fromEntries(entries) as WorkloadLevel;
}

/** The mean of |real - sim| / real over those that took any time. */
function meanAbsoluteShare(real: Float64Array, sim: Float64Array): number | null {
  let sum = 0;
  let n = 0;
  for (let i = 0; i < real.length; i++) {
    if (real[i] === 0) continue;
    sum += Math.abs(real[i]! - sim[i]!) / real[i]!;
    n++;
  }
  return n === 0 ? null : sum / n;
}

/** Pearson's correlation from raw moments; 0 for too few requests, or where one side is all the same. */
function pearson(x: Float64Array, y: Float64Array): number {
  const n = x.length;
  if (n < LEAST_TO_JUDGE) return 0;
  let [sumX, sumY, sumXX, sumYY, sumXY] = [0, 0, 0, 0, 0];
  for (let i = 0; i < n; i++) {
    const [a, b] = [x[i]!, y[i]!];
    sumX += a;
    sumY += b;
    sumXX += a * a;
    sumYY += b * b;
    sumXY += a * b;
  }
  const spread = Math.sqrt((n * sumXX - sumX * sumX) * (n * sumYY - sumY * sumY));
  // Rounding can leave a little less than nothing of a spread, and a correlation a little beyond 1.
  return spread > 0 ? Math.max(-1, Math.min(1, (n * sumXY - sumX * sumY) / spread)) : 0;
}

function biasDirection(real: Float64Array, sim: Float64Array): RequestLevel['bias_direction'] {
  let sum = 0;
  for (let i = 0; i < real.length; i++) sum += sim[i]! - real[i]!;
  return sum > 0 ? 'over-predict' : sum < 0 ? 'under-predict' : 'neutral';
}

function grade(mape: number | null, r: number, n: number): Grade {
  if (n < LEAST_TO_JUDGE || mape === null) return 'too few';
  return GRADES.find(([, below, above]) => mape < below && r > above)?.[0] ?? 'poor';
}
