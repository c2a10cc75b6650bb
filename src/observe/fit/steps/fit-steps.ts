import type { StepCosts } from '../../../replica/latency/profile.js';
import { StepFitting } from './step-fitting.js';
import type { StepRow } from './step-rows.js';
import type { StepSample } from './step-sample.js';
import type { StepTerms } from './step-terms.js';

const MOST_ROUNDS = 40;
/** Rounds that settle which steps are bound by what, before the search for the time of launching begins. */
const FIRST_ROUNDS = 4;

/** The costs of steps, and what their confidence is computed from. */
export interface StepFit {
  costs: StepCosts;
  terms: StepTerms;
  coefficients: Float64Array;
  /** What was fitted to; by row how its time follows each coefficient, what it is by the formula, its weight in the end. */
  rows: readonly StepRow[];
  slopes: Float64Array;
  predicted: Float64Array;
  weights: Float64Array;
  /** What is left unexplained. */
  loss: number;
}

export interface StepFitSettings {
  /** What a shared token of context costs of one that is not, 0 to 1. */
  sharedContext: number;
  /** Steps of prompts above this many tokens are launched kernel by kernel. */
  launchedAbove: number;
  /** Whether the GPU may slow down under load. */
  slowsDown: boolean;
}

/**
 * The costs that explain measured steps best: weighted least squares over relative errors with costs of at least 0, repeated
 * with weights that tame outliers. Errors are shares of what is predicted: as shares of what was measured those of quick
 * steps would count more than those of slow ones of the same shape, and the sum of all would come out too low. Where the
 * host's time was measured, it is fitted apart from the GPU's, to the same scale. What is not linear is settled between the
 * rounds: which of two bounds holds for the attention of a step's prompts, how long launching takes, and what it is that a GPU
 * under load slows down.
 */
export function fitSteps(samples: readonly StepSample[], settings: StepFitSettings): StepFit {
  const fit = new StepFitting(samples, settings);
  let before = Number.POSITIVE_INFINITY;
  let loss = 0;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    fit.solve();
    if (round >= FIRST_ROUNDS) fit.findLaunching();
    loss = fit.judge();
    const settled = !fit.chooseBounds() && Math.abs(before - loss) <= 1e-6 * loss;
    if (round > FIRST_ROUNDS && settled) break;
    before = loss;
  }
  return { ...fit.result(), loss };
}
