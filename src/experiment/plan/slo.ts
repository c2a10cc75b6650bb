import type { LatencyMeasure } from '../metrics.js';

/** A latency that the fleet has to keep: `TTFT p99 <= 500 ms`. */
export interface Slo extends LatencyMeasure {
  limitMs: number;
}

export function isSameMeasure(a: LatencyMeasure, b: LatencyMeasure): boolean {
  return a.of === b.of && a.at === b.at;
}

/** Requests beyond a percentile that make it a number worth reporting. */
const BEYOND = 20;
const LEAST_REQUESTS = 2000;
const MOST_REQUESTS = 50_000;

/** Requests that a run needs for these percentiles: 2,000 for a p99, 20,000 for a p99.9. */
export function requestsFor(measures: readonly LatencyMeasure[]): number {
  const needed = measures.map(({ at }) => (at === 'mean' ? 0 : BEYOND / Math.max(1e-9, 1 - at / 100)));
  return Math.min(MOST_REQUESTS, Math.max(LEAST_REQUESTS, Math.round(Math.max(0, ...needed))));
}
