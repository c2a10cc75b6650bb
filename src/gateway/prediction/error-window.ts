/** Predictions kept for percentiles. */
const WINDOW = 512;

export const PREDICTION_METRICS = ['ttft', 'itl', 'e2e'] as const;
export type PredictionMetric = (typeof PREDICTION_METRICS)[number];

/** How far predictions of the last requests were off. Shares of the truth. */
export interface ErrorStats {
  readonly count: number;
  /** Mean of predicted / true - 1: above 0 when the engine is quicker than predicted. */
  readonly bias: number;
  /** Of the absolute errors. */
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
}

/** The errors of the latest predictions of one metric: a ring, so that adding allocates nothing. */
export class ErrorWindow {
  readonly #errors = new Float32Array(WINDOW);
  /** Predictions compared so far. */
  total = 0;

  add(error: number): void {
    this.#errors[this.total % WINDOW] = error;
    this.total++;
  }

  clear(): void {
    this.total = 0;
  }

  /** Null before the first. */
  stats(): ErrorStats | null {
    const count = Math.min(this.total, WINDOW);
    if (count === 0) return null;
    const errors = this.#errors.subarray(0, count);
    const sizes = Float32Array.from(errors, Math.abs).sort();
    const at = (share: number) => sizes[Math.min(count - 1, Math.floor(share * count))]!;
    return { count, bias: meanOf(errors), mean: meanOf(sizes), p50: at(0.5), p90: at(0.9) };
  }
}

function meanOf(values: Float32Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
