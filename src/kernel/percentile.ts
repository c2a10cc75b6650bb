/** Percentile p (0..100) of sorted values by linear interpolation between the two nearest ranks; 0 when there are none. */
export function percentile(sorted: ArrayLike<number>, p: number): number {
  const n = sorted.length;
  if (n === 0) return 0;
  const rank = (p / 100) * (n - 1);
  const low = Math.floor(rank);
  const high = Math.ceil(rank);
  const below = sorted[low]!;
  return low === high ? below : below + (rank - low) * (sorted[high]! - below);
}

export function mean(values: ArrayLike<number>): number {
  const n = values.length;
  if (n === 0) return 0;
  let sum = 0;
  for (let i = 0; i < n; i++) sum += values[i]!;
  return sum / n;
}

/** Values with how often each occurs, sorted by value: stands for the long list with every value repeated. */
export class CountedValues {
  readonly total: number;
  readonly #values: Float64Array;
  /** How many of the list's entries come before value i. */
  readonly #before: Float64Array;
  readonly #sum: number;

  constructor(counts: ReadonlyMap<number, number>) {
    this.#values = Float64Array.from(counts.keys()).sort();
    this.#before = new Float64Array(this.#values.length);
    let total = 0;
    let sum = 0;
    for (let i = 0; i < this.#values.length; i++) {
      const value = this.#values[i]!;
      const count = counts.get(value)!;
      this.#before[i] = total;
      total += count;
      sum += value * count;
    }
    this.total = total;
    this.#sum = sum;
  }

  get sum(): number {
    return this.#sum;
  }

  /** Entry number `index` of the sorted list. */
  at(index: number): number {
    let low = 0;
    let high = this.#values.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#before[middle]! <= index) low = middle;
      else high = middle - 1;
    }
    return this.#values[low]!;
  }
}
