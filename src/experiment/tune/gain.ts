import { studentT975 } from '../comparison/paired-difference.js';
import type { Metric } from '../metrics.js';
import { isRatio, onScale } from './objective.js';

/** How much better one set is than another on the same parts, with its 95 % interval. */
export interface Gain {
  /** Times and rates: the change as a share of the other's, -0.2 for a fifth less. Shares and fitness: the difference. */
  change: number;
  /** Null for a single pair. */
  low: number | null;
  high: number | null;
  verdict: 'better' | 'worse' | 'noise' | 'same' | 'once';
}

/** Paired by part: what all runs of a part share cancels out. */
export function gainOf(metric: Metric, values: readonly number[], others: readonly number[]): Gain {
  const n = values.length;
  const differences = values.map((value, i) => onScale(metric, value) - onScale(metric, others[i]!));
  const mean = differences.reduce((sum, d) => sum + d, 0) / n;
  const shown = (d: number) => (isRatio(metric) ? Math.expm1(d) : d);
  if (differences.every((d) => d === 0)) return { change: 0, low: 0, high: 0, verdict: 'same' };
  if (n < 2) return { change: shown(mean), low: null, high: null, verdict: 'once' };
  const squares = differences.reduce((sum, d) => sum + (d - mean) ** 2, 0);
  const half = studentT975(n - 1) * Math.sqrt(squares / (n - 1) / n);
  const [low, high] = [mean - half, mean + half];
  const isBetter = metric.better === 'less' ? high < 0 : low > 0;
  const isWorse = metric.better === 'less' ? low > 0 : high < 0;
  const verdict = isBetter ? 'better' : isWorse ? 'worse' : 'noise';
  return { change: shown(mean), low: shown(low), high: shown(high), verdict };
}
