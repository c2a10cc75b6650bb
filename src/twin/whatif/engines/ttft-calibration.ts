import { percentile } from '../../../kernel/percentile.js';

/** Beyond these ranks single requests decide: this share, and at least so many requests. */
const END_SHARE = 0.01;
const END_REQUESTS = 5;

/**
 * What would be measured where this TTFT is simulated: as many times as long as the recording's TTFT of the same rank is, measured
 * against simulated. So what the simulation lacks (noise of hosts, replicas that slow each other down) is corrected at the
 * length at which it was seen, which a factor of one percentile cannot: another policy has other requests at that percentile.
 */
export class TtftCalibration {
  readonly #simulated: Float64Array;
  readonly #measured: Float64Array;
  readonly #leastRank: number;

  /** The same requests, in any order. */
  constructor(simulatedUs: readonly number[], measuredUs: readonly number[]) {
    this.#simulated = Float64Array.from(simulatedUs).sort();
    this.#measured = Float64Array.from(measuredUs).sort();
    this.#leastRank = Math.min(50, 100 * Math.max(END_SHARE, END_REQUESTS / simulatedUs.length));
  }

  measuredUs(simulatedUs: number): number {
    const rank = this.#rankOf(simulatedUs);
    const expected = percentile(this.#simulated, rank);
    // Longer than the recording has: a queue that was not seen, whose length no factor of short ones knows.
    if (simulatedUs > expected && rank > 50) return simulatedUs + percentile(this.#measured, rank) - expected;
    return expected > 0 ? (simulatedUs * percentile(this.#measured, rank)) / expected : simulatedUs;
  }

  /** 0 to 100, away from the ends. */
  #rankOf(simulatedUs: number): number {
    let low = 0;
    let high = this.#simulated.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#simulated[middle]! < simulatedUs) low = middle + 1;
      else high = middle;
    }
    const rank = (100 * low) / Math.max(1, this.#simulated.length - 1);
    return Math.min(100 - this.#leastRank, Math.max(this.#leastRank, rank));
  }
}
