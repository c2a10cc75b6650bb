import type { Exposition } from '../../protocol/prometheus/exposition.js';
import { Histogram } from '../../protocol/prometheus/histogram.js';
import type { Axis } from './label-axis.js';
import type { MetricFamily } from './metric-family.js';

const MS = 1000;
const S = 1_000_000;

/** Upper bounds of buckets in microseconds: from a cached prefix to a response of many pages. */
export const LATENCY_BUCKETS_US = [
  ...[MS, 2 * MS, 5 * MS, 10 * MS, 20 * MS, 50 * MS, 100 * MS, 200 * MS, 500 * MS],
  ...[S, 2 * S, 5 * S, 10 * S, 20 * S, 60 * S, 120 * S],
];
/** Between two pieces of a stream. */
export const GAP_BUCKETS_US = [
  ...[MS, 2 * MS, 5 * MS, 10 * MS, 15 * MS, 20 * MS, 30 * MS, 50 * MS, 75 * MS],
  ...[100 * MS, 200 * MS, 500 * MS, S, 2 * S],
];
/** For event loop lag. */
export const LAG_BUCKETS_US = [MS, 2 * MS, 5 * MS, 10 * MS, 20 * MS, 50 * MS, 100 * MS, 200 * MS, 500 * MS, S];

/** Durations in whole microseconds by the values of an axis, written in seconds. Observing allocates nothing. */
export class DurationHistogram {
  readonly #family: MetricFamily;
  readonly #axis: Axis;
  readonly #rows: Histogram;

  constructor(family: MetricFamily, axis: Axis, boundsUs: readonly number[]) {
    this.#family = family;
    this.#axis = axis;
    this.#rows = new Histogram(boundsUs, axis.capacity);
  }

  observe(row: number, durationUs: number): void {
    this.#rows.observe(durationUs, row);
  }

  writeTo(out: Exposition): void {
    out.family(this.#family);
    for (let row = 0; row < this.#axis.used; row++) {
      if (this.#axis.isOverflow(row) && this.#rows.count(row) === 0) continue;
      this.#rows.writeTo(out, this.#axis.text(row), row, { divisor: S });
    }
  }
}
