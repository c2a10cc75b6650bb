/** Steps of the running quantile, as logarithms: 19 observations below it weigh as much as one above it. */
const UP = Math.exp(0.19);
const DOWN = Math.exp(-0.01);
/** Observations that make a size known. Until then their maximum stands for the quantile. */
const ENOUGH = 8;
/** Sizes up to 2^31. */
const BUCKETS = 32;

/**
 * How long requests wait for their first byte, learned from those that got it: by kind of work, and within a kind by size, in
 * buckets of powers of two. Each bucket has a running estimate of the 95th percentile that one outlier moves by a fifth at most.
 * Nothing is allocated after the first request of a kind.
 */
export class FirstByteTimes {
  readonly #times: Float64Array[] = [];
  readonly #counts: Int32Array[] = [];

  /**
   * The 95th percentile for a request of this size in microseconds; NaN while nothing is known of this kind of work. A size that is
   * not known takes in proportion to the next smaller one, or else as long as the next larger one: both are too long rather than
   * too short.
   */
  expectedUs(work: number, size: number): number {
    const times = this.#times[work];
    if (times === undefined) return Number.NaN;
    const counts = this.#counts[work]!;
    const bucket = bucketOf(size);
    if (counts[bucket]! >= ENOUGH) return times[bucket]!;
    for (let smaller = bucket - 1; smaller >= 0; smaller--) {
      if (counts[smaller]! >= ENOUGH) return (times[smaller]! * size) / 2 ** smaller;
    }
    for (let larger = bucket + 1; larger < BUCKETS; larger++) {
      if (counts[larger]! >= ENOUGH) return times[larger]!;
    }
    return Number.NaN;
  }

  observe(work: number, size: number, tookUs: number): void {
    if (this.#times[work] === undefined) {
      this.#times[work] = new Float64Array(BUCKETS);
      this.#counts[work] = new Int32Array(BUCKETS);
    }
    const times = this.#times[work]!;
    const counts = this.#counts[work]!;
    const bucket = bucketOf(size);
    const count = counts[bucket]!;
    if (count < ENOUGH) {
      counts[bucket] = count + 1;
      times[bucket] = Math.max(times[bucket]!, tookUs);
    } else times[bucket]! *= tookUs > times[bucket]! ? UP : DOWN;
  }
}

function bucketOf(size: number): number {
  return 31 - Math.clz32(Math.min(Math.max(size, 1), 2 ** 31));
}
