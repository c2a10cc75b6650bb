import { emptyShape } from '../latency/batch-shape.js';
import type { BatchShape } from '../latency/contract.js';

/** What one step will compute, while it is being put together. One object serves all steps of a replica. */
export class StepPlan {
  /** Tokens that the step may still take. */
  budget = 0;
  /** The step's sums, for the latency model. */
  readonly shape: BatchShape = emptyShape();
  /** Slots still working on their prompt, in batch order; those admitted in this step come last. */
  readonly prefilling: number[] = [];
  /** Decoding slots that get no token in this step. */
  readonly idle: number[] = [];
  readonly #longPrefill: number;

  /** @param longPrefill tokens that one prompt gets in a step at most; 0 for no limit */
  constructor(longPrefill: number) {
    this.#longPrefill = longPrefill;
  }

  /** How many of a prompt's tokens left the step takes. */
  chunk(left: number): number {
    const long = this.#longPrefill > 0 && this.#longPrefill < left ? this.#longPrefill : left;
    return Math.min(long, this.budget);
  }
}
