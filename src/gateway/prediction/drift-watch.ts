import { PREDICTION_METRICS, type PredictionMetric } from './error-window.js';

const BUCKET_US = 60e6;
/** A bucket with fewer predictions is extended. */
const LEAST_PREDICTIONS = 5;
/** The error has to be this many times its usual size, for this long. */
const TIMES = 2;
const LASTS_US = 600e6;
/** Predictions that the usual error is learned from. */
const LEARNED_FROM = 100;
/** An error that is usually smaller counts as this: nothing drifts from 1 % to 2 %. */
const LEAST_USUAL = 0.05;
/** Counted of one error at most: a single request that hangs is no drift. */
const MOST_ERROR = 10;

/** Mean absolute errors, by metric. */
export type UsualErrors = Readonly<Record<PredictionMetric, number>>;

/** Predictions have become worse, and stay so. */
export interface Drift {
  /** When it began, in the gateway's microseconds. */
  readonly sinceUs: number;
  readonly metric: PredictionMetric;
  /** The error of that metric now and before. */
  readonly error: number;
  readonly usual: number;
  /** True over predicted latencies since it began: above 1 for a slower engine. */
  readonly ratio: UsualErrors;
}

type GrownError = Pick<Drift, 'metric' | 'error' | 'usual'>;

const NUMBER = PREDICTION_METRICS.length;

/**
 * Watches the errors of one profile's predictions, in buckets of a minute of the gateway's clock. The usual error is that of the
 * first hundred predictions, unless it is given.
 */
export class DriftWatch {
  /** Null until it is learned. */
  usual: UsualErrors | null = null;
  drift: Drift | null = null;
  readonly #learned = new Float64Array(NUMBER);
  readonly #learnedCounts = new Int32Array(NUMBER);
  readonly #errors = new Float64Array(NUMBER);
  readonly #counts = new Int32Array(NUMBER);
  /** Sums since the errors are too large. */
  readonly #true = new Float64Array(NUMBER);
  readonly #predicted = new Float64Array(NUMBER);
  #beganUs = -1;
  #badSinceUs = -1;
  /** Of the last bucket of the bad time; null outside one. */
  #lastWorst: GrownError | null = null;
  #lastUs = 0;

  /** Predictions come from another profile now. @param usual its errors, where they are known */
  reset(usual: UsualErrors | null = null): void {
    this.usual = usual;
    this.drift = null;
    this.#learned.fill(0);
    this.#learnedCounts.fill(0);
    this.#empty();
    this.#forgive();
  }

  /** @param metric index into PREDICTION_METRICS */
  observe(metric: number, predictedUs: number, trueUs: number, nowUs: number): void {
    // A quiet time says nothing about the errors before it.
    if (nowUs - this.#lastUs >= LASTS_US) this.#restart();
    this.#lastUs = nowUs;
    if (this.#beganUs < 0) this.#beganUs = nowUs;
    // Alike for an engine that is slower than predicted, whose share of the truth could never exceed 1.
    const error = Math.min(MOST_ERROR, Math.max(predictedUs / trueUs, trueUs / predictedUs) - 1);
    this.#errors[metric]! += error;
    this.#counts[metric]!++;
    this.#true[metric]! += trueUs;
    this.#predicted[metric]! += predictedUs;
    if (this.usual === null) this.#learn(metric, error);
  }

  /**
   * Errors that are too large now, but not for long enough to be found, or null: called before the profile is replaced, because
   * nothing more is predicted with it.
   */
  pending(nowUs: number): Drift | null {
    if (this.drift !== null || nowUs - this.#lastUs >= LASTS_US) return null;
    const worst = this.#counts[0]! >= LEAST_PREDICTIONS ? this.#worst() : this.#lastWorst;
    const sinceUs = this.#badSinceUs < 0 ? this.#beganUs : this.#badSinceUs;
    // A moment is no drift, whatever a fit makes of it.
    if (worst === null || nowUs - sinceUs < BUCKET_US) return null;
    return { ...worst, sinceUs, ratio: this.#ratios() };
  }

  /** Closes a bucket that is over. Returns a drift that has just been found, else null. */
  review(nowUs: number): Drift | null {
    if (this.#beganUs < 0 || nowUs - this.#beganUs < BUCKET_US) return null;
    if (this.#counts[0]! < LEAST_PREDICTIONS) return null;
    const worst = this.#worst();
    const beganUs = this.#beganUs;
    this.#empty();
    if (worst === null) {
      this.#forgive();
      this.drift = null;
      return null;
    }
    if (this.#badSinceUs < 0) this.#badSinceUs = beganUs;
    this.#lastWorst = worst;
    if (nowUs - this.#badSinceUs < LASTS_US || this.drift !== null) return null;
    this.drift = { ...worst, sinceUs: this.#badSinceUs, ratio: this.#ratios() };
    return this.drift;
  }

  #learn(metric: number, error: number): void {
    this.#learned[metric]! += error;
    this.#learnedCounts[metric]!++;
    if (this.#learnedCounts[0]! < LEARNED_FROM) return;
    const mean = (i: number) => (this.#learnedCounts[i] === 0 ? 0 : this.#learned[i]! / this.#learnedCounts[i]!);
    this.usual = { ttft: mean(0), itl: mean(1), e2e: mean(2) };
    // The errors so far are the usual ones.
    this.#forgive();
  }

  /** The metric whose error has grown most, null when none has grown enough. */
  #worst(): GrownError | null {
    if (this.usual === null) return null;
    let worst: GrownError | null = null;
    for (const [i, metric] of PREDICTION_METRICS.entries()) {
      if (this.#counts[i] === 0) continue;
      const usual = Math.max(LEAST_USUAL, this.usual[metric]);
      const error = this.#errors[i]! / this.#counts[i]!;
      if (error < TIMES * usual) continue;
      if (worst === null || error / usual > worst.error / worst.usual) worst = { metric, error, usual };
    }
    return worst;
  }

  #ratios(): UsualErrors {
    const ratio = (i: number) => (this.#predicted[i] === 0 ? 1 : this.#true[i]! / this.#predicted[i]!);
    return { ttft: ratio(0), itl: ratio(1), e2e: ratio(2) };
  }

  #empty(): void {
    this.#beganUs = -1;
    this.#errors.fill(0);
    this.#counts.fill(0);
  }

  #forgive(): void {
    this.#badSinceUs = -1;
    this.#lastWorst = null;
    this.#true.fill(0);
    this.#predicted.fill(0);
  }

  #restart(): void {
    this.#empty();
    this.#forgive();
  }
}
