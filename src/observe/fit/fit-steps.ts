import type { StepCosts } from '../../replica/latency/profile.js';
import { launchedTokens, notBefore } from '../../replica/latency/profile-latency.js';
import { knotsFor } from './knots.js';
import { nonNegative } from './nnls.js';
import type { StepSample } from './step-sample.js';
import { StepTerms } from './step-terms.js';

/** Errors beyond this share count in proportion, not squared: pauses of the host are no part of a step's cost. */
const USUAL_ERROR = 0.05;
const MOST_ROUNDS = 40;
/** Rounds that settle which steps are bound by what, before the search for the time of launching begins. */
const FIRST_ROUNDS = 4;
/** The time of launching is looked for in so many steps, and then around the best in as many smaller ones. */
const LAUNCH_STEPS = 50;
/** Launching that explains less of the error than this is none. */
const LEAST_GAIN = 0.01;

/** What steps cost, and all it takes to say how sure that is. */
export interface StepFit {
  costs: StepCosts;
  terms: StepTerms;
  coefficients: Float64Array;
  /** By sample: how its time follows each coefficient, what it is by the formula, and its weight in the last round. */
  slopes: Float64Array;
  predicted: Float64Array;
  weights: Float64Array;
  /** What is left unexplained. */
  loss: number;
}

export interface StepFitSettings {
  /** What a shared token of context costs of one that is not, 0 to 1. */
  sharedContext: number;
  /** Steps of prompts above so many tokens are launched piece by piece. */
  launchedAbove: number;
}

/**
 * The costs that explain measured steps best: weighted least squares over relative errors with costs of at least 0, repeated
 * with weights that tame outliers. Errors are shares of what is predicted: as shares of what was measured those of quick
 * steps would count more than those of slow ones of the same shape, and the sum of all would come out too low. What is not
 * linear is settled between the rounds: which of two bounds holds for the attention of a step's prompts, and how long
 * launching takes.
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

class StepFitting {
  readonly #samples: readonly StepSample[];
  readonly #settings: StepFitSettings;
  readonly #terms: StepTerms;
  readonly #columns: Float64Array;
  readonly #byPairs: Uint8Array;
  readonly #weights: Float64Array;
  readonly #sums: Float64Array;
  readonly #predicted: Float64Array;
  /** Samples that are launched piece by piece. */
  readonly #launched: number[] = [];
  readonly #firstUs: number;
  /** By sample: how its time follows what it computes. A step that waits for its launching says little of that. */
  readonly #follows: Float64Array;
  #coefficients: Float64Array;
  #launchUs = 0;

  constructor(samples: readonly StepSample[], settings: StepFitSettings) {
    this.#samples = samples;
    this.#settings = settings;
    const size = ({ shape }: StepSample) => shape.decodes + shape.prefillTokens;
    const mixed = (sample: StepSample) => sample.shape.prefills > 0;
    this.#terms = new StepTerms(
      knotsFor(samples.filter((sample) => !mixed(sample)).map(size), settings.launchedAbove),
      knotsFor(samples.filter(mixed).map(size), settings.launchedAbove),
      samples.some(({ inService }) => !inService),
      settings.launchedAbove,
    );
    this.#firstUs = this.#terms.unit('firstUs');
    this.#coefficients = new Float64Array(this.#terms.columns);
    this.#columns = new Float64Array(samples.length * this.#terms.columns);
    this.#byPairs = new Uint8Array(samples.length).fill(1);
    this.#weights = Float64Array.from(samples, ({ us, count }) => count / us ** 2);
    this.#sums = new Float64Array(samples.length);
    this.#predicted = new Float64Array(samples.length);
    this.#follows = new Float64Array(samples.length).fill(1);
    for (const [i, sample] of samples.entries()) {
      if (sample.inService && launchedTokens(sample.shape, settings.launchedAbove) > 0) this.#launched.push(i);
      this.#byPairs[i] = sample.shape.prefillPairs > 512 * sample.shape.prefillLongest ? 1 : 0;
      this.#writeColumns(i);
    }
  }

  /** The best coefficients for the present weights, as if times went on to follow them as they do now. */
  solve(): void {
    const { columns: n } = this.#terms;
    const slopes = this.#slopes();
    const matrix = new Float64Array(n * n);
    const right = new Float64Array(n);
    const used = new Int32Array(n);
    for (let row = 0; row < this.#samples.length; row++) {
      const at = row * n;
      const weight = this.#weights[row]!;
      const firstUs = this.#first(row);
      const followed = this.#follows[row]! * (this.#sums[row]! - firstUs) + firstUs;
      const us = this.#samples[row]!.us - (this.#predicted[row]! - followed);
      let count = 0;
      for (let i = 0; i < n; i++) if (slopes[at + i] !== 0) used[count++] = i;
      for (let a = 0; a < count; a++) {
        const i = used[a]!;
        const value = weight * slopes[at + i]!;
        right[i]! += value * us;
        for (let b = 0; b <= a; b++) matrix[i * n + used[b]!]! += value * slopes[at + used[b]!]!;
      }
    }
    for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) matrix[j * n + i] = matrix[i * n + j]!;
    this.#coefficients = nonNegative(matrix, right);
    this.#sums.forEach((_, row) => {
      this.#sums[row] = this.#sum(row);
    });
  }

  /** The time of launching that explains the steps concerned best; none if it explains too little. */
  findLaunching(): void {
    if (this.#launched.length === 0) return;
    const longest = this.#launched.reduce((most, row) => Math.max(most, this.#sums[row]!), 0);
    const without = this.#launchedLoss(0);
    let best = without * (1 - LEAST_GAIN);
    this.#launchUs = 0;
    const search = (fromUs: number, toUs: number, byUs: number) => {
      for (let us = fromUs; us <= toUs; us += byUs) {
        const loss = this.#launchedLoss(us);
        if (loss >= best) continue;
        best = loss;
        this.#launchUs = us;
      }
    };
    const coarse = longest / LAUNCH_STEPS;
    search(coarse, longest, coarse);
    if (this.#launchUs > 0) search(this.#launchUs - coarse, this.#launchUs + coarse, coarse / LAUNCH_STEPS);
  }

  /** Predicts every step, weighs it by its error, and adds the errors up. */
  judge(): number {
    let loss = 0;
    this.#predicted.set(this.#sums);
    for (const row of this.#launched) this.#predicted[row] = this.#launchedTime(row, this.#launchUs);
    for (let row = 0; row < this.#samples.length; row++) {
      const { us, count } = this.#samples[row]!;
      const predicted = this.#predicted[row]!;
      const error = Math.abs(us / predicted - 1);
      loss += count * lossOf(error);
      this.#weights[row] = (count / predicted ** 2) * Math.min(1, USUAL_ERROR / Math.max(error, 1e-12));
    }
    for (const row of this.#launched) {
      this.#follows[row] = boundByCompute(this.#launchUs, this.#sums[row]! - this.#first(row));
    }
    return loss;
  }

  /** Which bound holds for the attention of each step's prompts; whether any has changed. */
  chooseBounds(): boolean {
    let changed = false;
    for (const [row, { shape }] of this.#samples.entries()) {
      if (shape.prefills === 0) continue;
      const byPairs = this.#terms.isByPairs(shape, this.#coefficients) ? 1 : 0;
      if (byPairs === this.#byPairs[row]) continue;
      this.#byPairs[row] = byPairs;
      this.#writeColumns(row);
      changed = true;
    }
    return changed;
  }

  result(): Omit<StepFit, 'loss'> {
    return {
      costs: this.#terms.costs(this.#coefficients, this.#settings.sharedContext, this.#launchUs),
      terms: this.#terms,
      coefficients: this.#coefficients,
      slopes: this.#slopes(),
      predicted: this.#predicted,
      weights: this.#weights,
    };
  }

  #writeColumns(row: number): void {
    const at = row * this.#terms.columns;
    const shared = this.#settings.sharedContext;
    this.#terms.write(this.#samples[row]!, this.#byPairs[row] === 1, shared, this.#columns, at);
  }

  /** Columns, less where the time does not follow them. Nothing hides the choice of kernels. */
  #slopes(): Float64Array {
    const { columns: n } = this.#terms;
    const slopes = Float64Array.from(this.#columns);
    for (const row of this.#launched) {
      for (let i = 0; i < n; i++) if (i !== this.#firstUs) slopes[row * n + i]! *= this.#follows[row]!;
    }
    return slopes;
  }

  #sum(row: number): number {
    const at = row * this.#terms.columns;
    let us = 0;
    for (let i = 0; i < this.#terms.columns; i++) us += this.#columns[at + i]! * this.#coefficients[i]!;
    return us;
  }

  /** What the first launch of its size adds to a step. */
  #first(row: number): number {
    return this.#columns[row * this.#terms.columns + this.#firstUs]! * this.#coefficients[this.#firstUs]!;
  }

  /** A step that is launched piece by piece. Kernels are chosen before the GPU has work, so that nothing hides it. */
  #launchedTime(row: number, launchUs: number): number {
    const firstUs = this.#first(row);
    return notBefore(launchUs, this.#sums[row]! - firstUs) + firstUs;
  }

  #launchedLoss(launchUs: number): number {
    let loss = 0;
    for (const row of this.#launched) {
      const { us, count } = this.#samples[row]!;
      loss += count * lossOf(Math.abs(us / this.#launchedTime(row, launchUs) - 1));
    }
    return loss;
  }
}

function lossOf(error: number): number {
  return error <= USUAL_ERROR ? error ** 2 : USUAL_ERROR * (2 * error - USUAL_ERROR);
}

/** How the step's time follows what it computes: 1 when launching is no bound, 0 when it is the only one. */
function boundByCompute(launchUs: number, us: number): number {
  if (launchUs === 0) return 1;
  const hair = 1e-3 * us;
  return (notBefore(launchUs, us + hair) - notBefore(launchUs, us)) / hair;
}
