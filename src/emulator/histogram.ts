/** Counts of values up to each of some bounds, as Prometheus understands them. */
export class Histogram {
  readonly bounds: readonly number[];
  sum = 0;
  count = 0;
  readonly #bins: Float64Array;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#bins = new Float64Array(bounds.length);
  }

  observe(value: number): void {
    this.sum += value;
    this.count++;
    const { bounds } = this;
    let bin = 0;
    while (bin < bounds.length && value > bounds[bin]!) bin++;
    if (bin < bounds.length) this.#bins[bin]!++;
  }

  /** How many values were at most `bounds[0]`, `bounds[1]` and so on. */
  cumulative(): number[] {
    let before = 0;
    return Array.from(this.#bins, (bin) => {
      before += bin;
      return before;
    });
  }
}

/** 1, 2, 5, 10, 20, 50 and so on, up to a limit. */
export function oneTwoFive(most: number): number[] {
  const bounds: number[] = [];
  for (let power = 1; power <= most; power *= 10) {
    for (const step of [1, 2, 5]) if (step * power <= most) bounds.push(step * power);
  }
  return bounds;
}
