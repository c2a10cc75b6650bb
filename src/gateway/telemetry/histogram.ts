import type { Exposition } from './exposition.js';
import type { Axis } from './label-axis.js';
import { labelText } from './label-text.js';
import type { MetricFamily } from './metric-families.js';

const MS = 1000;
const S = 1_000_000;

/** Upper ends of buckets in microseconds. From a cached prefix to a report of many pages. */
export const LATENCY_BUCKETS_US = [
  ...[MS, 2 * MS, 5 * MS, 10 * MS, 20 * MS, 50 * MS, 100 * MS, 200 * MS, 500 * MS],
  ...[S, 2 * S, 5 * S, 10 * S, 20 * S, 60 * S, 120 * S],
];
/** Between two pieces of a stream. */
export const GAP_BUCKETS_US = [
  ...[MS, 2 * MS, 5 * MS, 10 * MS, 15 * MS, 20 * MS, 30 * MS, 50 * MS, 75 * MS],
  ...[100 * MS, 200 * MS, 500 * MS, S, 2 * S],
];
/** Of an event loop that should never be late. */
export const LAG_BUCKETS_US = [MS, 2 * MS, 5 * MS, 10 * MS, 20 * MS, 50 * MS, 100 * MS, 200 * MS, 500 * MS, S];

/**
 * Durations by buckets, in whole microseconds, told in seconds. Of each row: how many fell into each bucket, how many were
 * longer than all, and their sum. Observing allocates nothing.
 */
export class Histogram {
  readonly #family: MetricFamily;
  readonly #axis: Axis;
  readonly #bounds: Float64Array;
  readonly #width: number;
  readonly #cells: Float64Array;

  constructor(family: MetricFamily, axis: Axis, boundsUs: readonly number[]) {
    this.#family = family;
    this.#axis = axis;
    this.#bounds = Float64Array.from(boundsUs);
    this.#width = boundsUs.length + 2;
    this.#cells = new Float64Array(axis.capacity * this.#width);
  }

  observe(row: number, durationUs: number): void {
    const bounds = this.#bounds;
    const { length } = bounds;
    let bucket = 0;
    while (bucket < length && durationUs > bounds[bucket]!) bucket++;
    const at = row * this.#width;
    this.#cells[at + bucket]!++;
    this.#cells[at + length + 1]! += durationUs;
  }

  writeTo(out: Exposition): void {
    out.family(this.#family);
    for (let row = 0; row < this.#axis.used; row++) {
      const at = row * this.#width;
      const cells = this.#cells.subarray(at, at + this.#width);
      const count = cells.subarray(0, -1).reduce((sum, one) => sum + one, 0);
      if (count === 0 && this.#axis.isOverflow(row)) continue;
      const labels = this.#axis.text(row);
      const comma = labels === '' ? '' : ',';
      let sum = 0;
      this.#bounds.forEach((bound, i) => {
        sum += cells[i]!;
        out.sample(`${labels}${comma}${labelText('le', String(bound / S))}`, sum, '_bucket');
      });
      out.sample(`${labels}${comma}${labelText('le', '+Inf')}`, count, '_bucket');
      out.sample(labels, cells[this.#width - 1]! / S, '_sum');
      out.sample(labels, count, '_count');
    }
  }
}
