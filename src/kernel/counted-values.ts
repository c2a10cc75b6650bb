/**
 * Whole numbers with how often each occurs: stands for the sorted list with every value repeated.
 * A value may be given several times; its counts add up.
 */
export class CountedValues {
  readonly total: number;
  readonly sum: number;
  /** Ascending; entry i of the list is in the last run that starts at or before i. */
  readonly #values: Float64Array;
  readonly #starts: Float64Array;

  constructor(values: Float64Array, counts: Int32Array) {
    const runs = runsOf(values, counts);
    this.#values = runs.values;
    this.#starts = runs.counts;
    let total = 0;
    let sum = 0;
    for (let i = 0; i < runs.values.length; i++) {
      const count = runs.counts[i]!;
      this.#starts[i] = total;
      total += count;
      sum += runs.values[i]! * count;
    }
    this.total = total;
    this.sum = sum;
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

interface Runs {
  values: Float64Array;
  counts: Float64Array;
}

/** The same values in ascending order. Values that lie close together are counted into bins instead of being sorted. */
function runsOf(values: Float64Array, counts: Int32Array): Runs {
  let least = Number.POSITIVE_INFINITY;
  let greatest = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) {
    least = Math.min(least, values[i]!);
    greatest = Math.max(greatest, values[i]!);
  }
  const range = greatest - least + 1;
  return range <= 65_536 + 8 * values.length ? binned(values, counts, least, range) : sorted(values, counts);
}

function binned(values: Float64Array, counts: Int32Array, least: number, range: number): Runs {
  const bins = new Float64Array(Math.max(0, range));
  for (let i = 0; i < values.length; i++) bins[values[i]! - least]! += counts[i]!;
  const present = new Float64Array(Math.min(values.length, bins.length));
  let runs = 0;
  for (let bin = 0; bin < bins.length; bin++) {
    if (bins[bin]! === 0) continue;
    present[runs] = least + bin;
    bins[runs++] = bins[bin]!;
  }
  return { values: present.subarray(0, runs), counts: bins.subarray(0, runs) };
}

function sorted(values: Float64Array, counts: Int32Array): Runs {
  const order = Array.from(values.keys()).sort((a, b) => values[a]! - values[b]!);
  return {
    values: Float64Array.from(order, (i) => values[i]!),
    counts: Float64Array.from(order, (i) => counts[i]!),
  };
}
