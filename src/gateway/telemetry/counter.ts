import type { Exposition } from '../../protocol/prometheus/exposition.js';
import type { Axis } from './label-axis.js';
import type { MetricFamily } from './metric-family.js';

/** Counts by up to three axes. Memory for all combinations is allocated at once: counting allocates nothing. */
export class Counter {
  readonly #family: MetricFamily;
  readonly #axes: readonly Axis[];
  readonly #second: number;
  readonly #third: number;
  /** By index. Code that runs for every request knows its index and increments in place. */
  readonly values: Float64Array;

  constructor(family: MetricFamily, axes: readonly [Axis, Axis?, Axis?]) {
    this.#family = family;
    this.#axes = axes.filter((axis) => axis !== undefined);
    this.#second = axes[1]?.capacity ?? 1;
    this.#third = axes[2]?.capacity ?? 1;
    this.values = new Float64Array(axes[0].capacity * this.#second * this.#third);
  }

  add(amount: number, first: number, second = 0, third = 0): void {
    this.values[(first * this.#second + second) * this.#third + third]! += amount;
  }

  /** The sums by the numbers of one axis. */
  sumsBy(axis: Axis): number[] {
    const position = this.#axes.indexOf(axis);
    const sums = new Array<number>(axis.used).fill(0);
    this.#each((value, indexes) => {
      sums[indexes[position]!]! += value;
    });
    return sums;
  }

  /** With one axis, every value ever seen is written, also while it is 0; with more, only what is not 0. */
  writeTo(out: Exposition): void {
    out.family(this.#family);
    const [first] = this.#axes as [Axis];
    const tellsZeros = this.#axes.length === 1;
    this.#each((value, indexes) => {
      if (value === 0 && (!tellsZeros || first.isOverflow(indexes[0]!))) return;
      out.sample(this.#axes.map((axis, i) => axis.text(indexes[i]!)).join(','), value);
    });
  }

  #each(visit: (value: number, indexes: readonly [number, number, number]) => void): void {
    const [first, second, third] = this.#axes as [Axis, Axis?, Axis?];
    for (let a = 0; a < first.used; a++) {
      for (let b = 0; b < (second?.used ?? 1); b++) {
        const at = (a * this.#second + b) * this.#third;
        for (let c = 0; c < (third?.used ?? 1); c++) visit(this.values[at + c]!, [a, b, c]);
      }
    }
  }
}
