import type { StepCosts } from '../../replica/latency/profile.js';
import { notBefore } from '../../replica/latency/profile-latency.js';
import { knotsFor } from './knots.js';
import { nonNegative } from './nnls.js';
import type { StepSample } from './step-sample.js';
import { StepTerms } from './step-terms.js';

/** Relative errors beyond this count in proportion, not squared: pauses of the host are no part of a step's cost. */
const USUAL_ERROR = 0.05;
const MOST_ROUNDS = 40;
/** Rounds that settle which steps are bound by what, before the search for the time of launching begins. */
const FIRST_ROUNDS = 4;
/** Launching that explains less of the error than this is none. */
const LEAST_GAIN = 0.01;

/** What steps cost, and all it takes to say how sure that is. */
export interface StepFit {
  costs: StepCosts;
  terms: StepTerms;
  coefficients: Float64Array;
  /** By sample: its columns, what they add up to, what the step took by the formula, and its weight in the last round. */
  columns: Float64Array;
  sums: Float64Array;
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
 * with weights that tame outliers. What is not linear is settled between the rounds: which of two bounds holds for the
 * attention of a step's prompts, and how long launching takes.
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
    );
    this.#coefficients = new Float64Array(this.#terms.columns);
    this.#columns = new Float64Array(samples.length * this.#terms.columns);
    this.#byPairs = new Uint8Array(samples.length).fill(1);
    this.#weights = Float64Array.from(samples, ({ us, count }) => count / us ** 2);
    this.#sums = new Float64Array(samples.length);
    this.#predicted = new Float64Array(samples.length);
    for (const [i, sample] of samples.entries()) {
      if (mixed(sample) && sample.inService && size(sample) > settings.launchedAbove) this.#launched.push(i);
      this.#byPairs[i] = sample.shape.prefillPairs > 512 * sample.shape.prefillLongest ? 1 : 0;
      this.#writeColumns(i);
    }
  }

  /** The best coefficients for the present weights; time that launching adds is taken off first. */
  solve(): void {
    const { columns: n } = this.#terms;
    const matrix = new Float64Array(n * n);
    const right = new Float64Array(n);
    const used = new Int32Array(n);
    for (let row = 0; row < this.#samples.length; row++) {
      const at = row * n;
      const weight = this.#weights[row]!;
      const us = this.#samples[row]!.us - (this.#predicted[row]! - this.#sums[row]!);
      let count = 0;
      for (let i = 0; i < n; i++) if (this.#columns[at + i] !== 0) used[count++] = i;
      for (let a = 0; a < count; a++) {
        const i = used[a]!;
        const value = weight * this.#columns[at + i]!;
        right[i]! += value * us;
        for (let b = 0; b <= a; b++) matrix[i * n + used[b]!]! += value * this.#columns[at + used[b]!]!;
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
    for (let share = 0.02; share <= 1; share += 0.02) {
      const loss = this.#launchedLoss(share * longest);
      if (loss >= best) continue;
      best = loss;
      this.#launchUs = share * longest;
    }
  }

  /** Predicts every step, weighs it by its error, and adds the errors up. */
  judge(): number {
    let loss = 0;
    this.#predicted.set(this.#sums);
    for (const row of this.#launched) this.#predicted[row] = notBefore(this.#launchUs, this.#sums[row]!);
    for (let row = 0; row < this.#samples.length; row++) {
      const { us, count } = this.#samples[row]!;
      const error = Math.abs(this.#predicted[row]! / us - 1);
      loss += count * lossOf(error);
      this.#weights[row] = (count / us ** 2) * Math.min(1, USUAL_ERROR / Math.max(error, 1e-12));
    }
    // A step that waits for its launching says little of what it computes.
    for (const row of this.#launched) {
      if (this.#launchUs > 0) this.#weights[row]! *= boundByCompute(this.#launchUs, this.#sums[row]!);
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
    const { sharedContext, launchedAbove } = this.#settings;
    const launch = this.#launchUs > 0 ? { aboveTokens: launchedAbove, us: this.#launchUs } : null;
    return {
      costs: this.#terms.costs(this.#coefficients, sharedContext, launch),
      terms: this.#terms,
      coefficients: this.#coefficients,
      columns: this.#columns,
      sums: this.#sums,
      predicted: this.#predicted,
      weights: this.#weights,
    };
  }

  #writeColumns(row: number): void {
    const at = row * this.#terms.columns;
    const shared = this.#settings.sharedContext;
    this.#terms.write(this.#samples[row]!, this.#byPairs[row] === 1, shared, this.#columns, at);
  }

  #sum(row: number): number {
    const at = row * this.#terms.columns;
    let us = 0;
    for (let i = 0; i < this.#terms.columns; i++) us += this.#columns[at + i]! * this.#coefficients[i]!;
    return us;
  }

  #launchedLoss(launchUs: number): number {
    let loss = 0;
    for (const row of this.#launched) {
      const { us, count } = this.#samples[row]!;
      loss += count * lossOf(Math.abs(notBefore(launchUs, this.#sums[row]!) / us - 1));
    }
    return loss;
  }
}

function lossOf(error: number): number {
  return error <= USUAL_ERROR ? error ** 2 : USUAL_ERROR * (2 * error - USUAL_ERROR);
}

/** How the step's time follows what it computes: 1 when launching is no bound, 0 when it is the only one. */
function boundByCompute(launchUs: number, us: number): number {
  const hair = 1e-3 * us;
  return (notBefore(launchUs, us + hair) - notBefore(launchUs, us)) / hair;
}
