/** Counts below this can share a number with their value: both stay exact in 53 bits. */
const COUNTS = 2 ** 20;
const MAX_VALUE = 2 ** 32;

/**
 * Whole numbers with how often each occurs, sorted: stands for the long list with every value repeated.
 * A value may be given several times; its counts add up.
 */
export class CountedValues {
  readonly total: number;
  readonly sum: number;
  /** Sorted; entry i of the list is in the last run that starts at or before i. */
  readonly #values: Float64Array;
  readonly #starts: Float64Array;

  constructor(values: Float64Array, counts: Int32Array) {
    const n = values.length;
    const sorted = new Float64Array(n);
    // One sort of plain numbers instead of one of pairs: the count rides along in the low bits.
    for (let i = 0; i < n; i++) sorted[i] = values[i]! * COUNTS + counts[i]!;
    sorted.sort();
    this.#values = new Float64Array(n);
    this.#starts = new Float64Array(n);
    let total = 0;
    let sum = 0;
    for (let i = 0; i < n; i++) {
      const value = Math.floor(sorted[i]! / COUNTS);
      const count = sorted[i]! - value * COUNTS;
      this.#values[i] = value;
      this.#starts[i] = total;
      total += count;
      sum += value * count;
    }
    this.total = total;
    this.sum = sum;
  }

  /** Whether a value and its count can be kept. */
  static fits(value: number, count: number): boolean {
    return value < MAX_VALUE && count < COUNTS;
  }

  /** Entry number `index` of the sorted list. */
  at(index: number): number {
    let low = 0;
    let high = this.#values.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= index) low = middle;
      else high = middle - 1;
    }
    return this.#values[low]!;
  }
}
