import { amountWithUnit } from '../../report/text/metric-text.js';
import { type Metric, type MetricKey, metricOf } from '../metrics.js';
import type { RunSummary } from '../runs/run-summary.js';

/** A bound on a metric, in the metric's own unit. */
export interface MetricBound {
  metric: MetricKey;
  bound: 'at most' | 'at least';
  value: number;
}

/** What `tune` makes better. */
export interface TuneObjective {
  metric: Metric;
  constraints: readonly MetricBound[];
}

/** Above any score of a set that keeps its constraints. */
const BROKEN = 1e6;
/** For a run that measured nothing. */
const WORST = 2 * BROKEN;
/** Keeps the logarithm of a rate of 0 finite. */
const LEAST = 1e-9;

/** Shares and fitness are compared as they are; times and rates by their ratio. */
export function isRatio({ unit }: Metric): boolean {
  return unit !== 'share' && unit !== '';
}

/** The metric on the scale that differences are taken on. */
export function onScale(metric: Metric, value: number): number {
  return isRatio(metric) ? Math.log(Math.max(LEAST, value)) : value;
}

/** Less is better. Sets that break a constraint come after all that keep them, the least broken first. */
export function scoreOf({ metric, constraints }: TuneObjective, { metrics }: RunSummary): number {
  const value = metrics[metric.key] ?? null;
  if (value === null) return WORST;
  const broken = constraints.reduce(
    (sum, constraint) => sum + excess(constraint, metrics[constraint.metric] ?? null),
    0,
  );
  if (broken > 0) return BROKEN + Math.min(BROKEN / 2, broken);
  return metric.better === 'less' ? onScale(metric, value) : -onScale(metric, value);
}

/** Whether a score is of a set that broke a constraint or measured nothing. */
export function breaksConstraints(score: number): boolean {
  return score >= BROKEN / 2;
}

/** How far beyond its bound, as a share of it. */
function excess({ bound, value: limit }: MetricBound, value: number | null): number {
  if (value === null) return 1;
  const beyond = bound === 'at most' ? value - limit : limit - value;
  return beyond <= 0 ? 0 : beyond / Math.max(Math.abs(limit), LEAST);
}

/** `TTFT p99 at most 500 ms`. */
export function constraintText({ metric, bound, value }: MetricBound): string {
  const found = metricOf(metric);
  return `${found.title} ${bound} ${amountWithUnit(found, value)}`;
}
