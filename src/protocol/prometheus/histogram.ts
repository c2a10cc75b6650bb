import { type Exposition, joined, labelText } from './exposition.js';

/** How a histogram is written. */
export interface HistogramFormat {
  /** What values and bounds are divided by: 1e6 for microseconds that are written as seconds. */
  readonly divisor?: number;
  /** A bound as the value of its `le` label. */
  readonly boundText?: (bound: number) => string;
}

/**
 * Counts of values by buckets with upper bounds, in rows of equal bounds: per row, how many values fell into each bucket, how
 * many exceeded all bounds, and their sum. Observing allocates nothing.
 */
export class Histogram {
  readonly #bounds: Float64Array;
  readonly #width: number;
  readonly #cells: Float64Array;

  constructor(bounds: readonly number[], rows = 1) {
    this.#bounds = Float64Array.from(bounds);
    this.#width = bounds.length + 2;
    this.#cells = new Float64Array(rows * this.#width);
  }

  observe(value: number, row = 0): void {
    const bounds = this.#bounds;
    const { length } = bounds;
    let bucket = 0;
    while (bucket < length && value > bounds[bucket]!) bucket++;
    const at = row * this.#width;
    this.#cells[at + bucket]!++;
    this.#cells[at + length + 1]! += value;
  }

  /** How many values the row has. */
  count(row = 0): number {
    const at = row * this.#width;
    let count = 0;
    for (let i = 0; i < this.#width - 1; i++) count += this.#cells[at + i]!;
    return count;
  }

  /** Writes a row as samples of the current family: buckets with all before them, sum and count. */
  writeTo(out: Exposition, labels = '', row = 0, { boundText = String, divisor = 1 }: HistogramFormat = {}): void {
    const at = row * this.#width;
    let sum = 0;
    this.#bounds.forEach((bound, i) => {
      sum += this.#cells[at + i]!;
      out.sample(joined(labels, labelText('le', boundText(bound / divisor))), sum, '_bucket');
    });
    const count = this.count(row);
    out.sample(joined(labels, labelText('le', '+Inf')), count, '_bucket');
    out.sample(labels, this.#cells[at + this.#width - 1]! / divisor, '_sum');
    out.sample(labels, count, '_count');
  }
}
