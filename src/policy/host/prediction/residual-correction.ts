import { CORRECTION } from '../../latency-predictor.js';
import { rearrange } from '../../rearrange.js';

/** A correction changes a prediction by this factor at most, up or down. */
export const MOST_FACTOR = 4;
/** What counts of a response after each further one: half after 34. */
const FORGETTING = 0.98;
/** Responses before a correction is trusted, and before it is judged. */
const FEW = 4;
const ENOUGH = 16;
/** The weights of "the prediction is right" against responses: they are never forgotten, so that the fit cannot drift off. */
const PRIOR = 2;
const EXTRA_PRIOR = 0.25;
/** An extra time is measured in units of this. */
const UNIT_US = 10_000;
/** Ratios beyond this count as this: one hung response must not move the fit for long. */
const MOST_RATIO = 8;

/**
 * Learns by how much the times of each replica differ from what was predicted: measured = factor * predicted + extra, by recursive
 * least squares of the relative error with forgetting. Bounded in every way: a response counts for a limited ratio, the result for
 * a limited factor, and when corrected predictions have been worse than plain ones the plain ones are used.
 */
export class ResidualCorrection {
  /** Of the last `correct`. */
  us = 0;
  state: number = CORRECTION.none;

  /** Of the last fit: a field, because returning a fraction would allocate a number. */
  #ratio = 1;

  // Sums of a weighted regression of measured / predicted on (1, unit / predicted), by replica.
  readonly #count: Float64Array;
  readonly #sumX: Float64Array;
  readonly #sumXX: Float64Array;
  readonly #sumY: Float64Array;
  readonly #sumXY: Float64Array;
  /** Mean errors of plain and corrected predictions, relative, by replica. */
  readonly #plainError: Float64Array;
  readonly #ownError: Float64Array;

  constructor(replicas: number) {
    this.#count = new Float64Array(replicas);
    this.#sumX = new Float64Array(replicas);
    this.#sumXX = new Float64Array(replicas);
    this.#sumY = new Float64Array(replicas);
    this.#sumXY = new Float64Array(replicas);
    this.#plainError = new Float64Array(replicas);
    this.#ownError = new Float64Array(replicas);
  }

  /** Corrects a prediction: sets `us` and `state`. */
  correct(replica: number, predictedUs: number): void {
    const count = this.#count[replica]!;
    this.us = predictedUs;
    this.state = CORRECTION.none;
    if (count < FEW * FORGETTING) return;
    if (count >= ENOUGH / 2 && this.#ownError[replica]! > this.#plainError[replica]!) {
      this.state = CORRECTION.off;
      return;
    }
    this.#fit(replica, predictedUs);
    const ratio = this.#ratio;
    const limited = Math.min(Math.max(ratio, 1 / MOST_FACTOR), MOST_FACTOR);
    this.us = limited * predictedUs;
    this.state = limited === ratio ? CORRECTION.applied : CORRECTION.limited;
  }

  /** A response took this long; `predictedUs` is what was predicted without correction. */
  learn(replica: number, predictedUs: number, measuredUs: number): void {
    if (!(predictedUs > 0) || !(measuredUs >= 0)) return;
    const x = UNIT_US / Math.max(predictedUs, 1);
    const y = Math.min(Math.max(measuredUs / predictedUs, 1 / MOST_RATIO), MOST_RATIO);
    this.#fit(replica, predictedUs);
    const own = Math.min(Math.max(this.#ratio, 1 / MOST_FACTOR), MOST_FACTOR);
    this.#plainError[replica] = decayed(this.#plainError[replica]!, Math.abs(y - 1) / y);
    this.#ownError[replica] = decayed(this.#ownError[replica]!, Math.abs(y - own) / y);
    this.#count[replica] = FORGETTING * this.#count[replica]! + 1;
    this.#sumX[replica] = FORGETTING * this.#sumX[replica]! + x;
    this.#sumXX[replica] = FORGETTING * this.#sumXX[replica]! + x * x;
    this.#sumY[replica] = FORGETTING * this.#sumY[replica]! + (y - 1);
    this.#sumXY[replica] = FORGETTING * this.#sumXY[replica]! + x * (y - 1);
  }

  /** The replica is another one now, or computes at another speed. */
  forget(replica: number): void {
    for (const column of this.#columns()) column[replica] = 0;
  }

  /** The fleet has changed, as in `RouterLedger.rearrange`. */
  rearrange(from: Int32Array): void {
    for (const column of this.#columns()) rearrange(column, from);
  }

  /** Measured / predicted as fitted for such a prediction: sets `#ratio`. */
  #fit(replica: number, predictedUs: number): void {
    const n = this.#count[replica]! + PRIOR;
    const sumX = this.#sumX[replica]!;
    const sumXX = this.#sumXX[replica]! + EXTRA_PRIOR;
    const determinant = n * sumXX - sumX * sumX;
    const sumY = this.#sumY[replica]!;
    const sumXY = this.#sumXY[replica]!;
    const factor = (sumY * sumXX - sumXY * sumX) / determinant;
    const extra = (n * sumXY - sumX * sumY) / determinant;
    this.#ratio = 1 + factor + (extra * UNIT_US) / Math.max(predictedUs, 1);
  }

  #columns(): Float64Array[] {
    return [this.#count, this.#sumX, this.#sumXX, this.#sumY, this.#sumXY, this.#plainError, this.#ownError];
  }
}

function decayed(mean: number, value: number): number {
  return FORGETTING * mean + (1 - FORGETTING) * value;
}
