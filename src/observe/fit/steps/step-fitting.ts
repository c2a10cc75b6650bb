import type { Slowdown } from '../../../replica/latency/profile.js';
import { batchTokens, launchedTokens, notBefore } from '../../../replica/latency/profile-latency.js';
import { nonNegative } from '../solve/nnls.js';
import type { StepFit, StepFitSettings } from './fit-steps.js';
import { bestLaunchUs, boundByCompute } from './launch-search.js';
import { loadMeasure, type StepRow, stepRowsOf } from './step-rows.js';
import type { StepSample } from './step-sample.js';
import { knotsFor, StepTerms } from './step-terms.js';

/** Errors beyond this share count linearly, not squared: pauses of the host are not part of a step's cost. */
const USUAL_ERROR = 0.05;

/** A fit of steps in progress: `fitSteps` iterates until nothing changes. */
export class StepFitting {
  readonly #settings: StepFitSettings;
  readonly #measure: Omit<Slowdown, 'share'>;
  readonly #rows: StepRow[];
  readonly #terms: StepTerms;
  readonly #firstUs: number;
  readonly #slowdown: number;
  readonly #columns: Float64Array;
  readonly #byPairs: Uint8Array;
  readonly #weights: Float64Array;
  /** By row: the GPU's computation without load, and what is added in any case. */
  readonly #gpuUs: Float64Array;
  readonly #apartUs: Float64Array;
  readonly #predicted: Float64Array;
  /** Rows of steps that are launched kernel by kernel. */
  readonly #launched: number[] = [];
  /** By row: how its time follows its computation. A step that waits for its launches says little about that. */
  readonly #follows: Float64Array;
  #coefficients: Float64Array;
  #launchUs = 0;

  constructor(samples: readonly StepSample[], settings: StepFitSettings) {
    this.#settings = settings;
    this.#measure = loadMeasure(samples);
    this.#rows = stepRowsOf(samples, settings.slowsDown ? this.#measure : null);
    const size = ({ shape }: StepSample) => batchTokens(shape);
    const mixed = (sample: StepSample) => sample.shape.prefills > 0;
    this.#terms = new StepTerms(
      knotsFor(samples.filter((sample) => !mixed(sample)).map(size), settings.launchedAbove),
      knotsFor(samples.filter(mixed).map(size), settings.launchedAbove),
      samples.some(({ inService }) => !inService),
      samples.some(({ hostUs }) => hostUs !== undefined),
      settings.launchedAbove,
    );
    this.#firstUs = this.#terms.unit('firstUs');
    this.#slowdown = this.#terms.unit('slowdown');
    this.#coefficients = new Float64Array(this.#terms.columns);
    const count = this.#rows.length;
    this.#columns = new Float64Array(count * this.#terms.columns);
    this.#byPairs = new Uint8Array(count).fill(1);
    this.#weights = Float64Array.from(this.#rows, ({ sample }) => sample.count / sample.us ** 2);
    this.#gpuUs = new Float64Array(count);
    this.#apartUs = new Float64Array(count);
    this.#predicted = new Float64Array(count);
    this.#follows = new Float64Array(count).fill(1);
    for (const [row, { sample, part }] of this.#rows.entries()) {
      const { shape, inService } = sample;
      if (part !== 'host' && inService && launchedTokens(shape, settings.launchedAbove) > 0) this.#launched.push(row);
      this.#byPairs[row] = shape.prefillPairs > 512 * shape.prefillLongest ? 1 : 0;
      this.#writeColumns(row);
    }
  }

  /** The best coefficients for the present weights, as if times went on to follow them as they do now. */
  solve(): void {
    const { columns: n } = this.#terms;
    const slopes = this.#slopes();
    const matrix = new Float64Array(n * n);
    const right = new Float64Array(n);
    const used = new Int32Array(n);
    for (let row = 0; row < this.#rows.length; row++) {
      const at = row * n;
      const weight = this.#weights[row]!;
      let us = this.#rows[row]!.us - this.#predicted[row]!;
      let count = 0;
      for (let i = 0; i < n; i++) {
        if (slopes[at + i] === 0) continue;
        us += slopes[at + i]! * this.#coefficients[i]!;
        used[count++] = i;
      }
      for (let a = 0; a < count; a++) {
        const i = used[a]!;
        const value = weight * slopes[at + i]!;
        right[i]! += value * us;
        for (let b = 0; b <= a; b++) matrix[i * n + used[b]!]! += value * slopes[at + used[b]!]!;
      }
    }
    for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) matrix[j * n + i] = matrix[i * n + j]!;
    this.#coefficients = nonNegative(matrix, right);
    for (let row = 0; row < this.#rows.length; row++) this.#addUp(row);
  }

  /** The time of launching that explains the steps concerned best. */
  findLaunching(): void {
    if (this.#launched.length === 0) return;
    const longestUs = this.#launched.reduce((most, row) => Math.max(most, this.#computeUs(row)), 0);
    this.#launchUs = bestLaunchUs(longestUs, (us) => this.#launchedLoss(us));
  }

  /** Predicts every row, weighs it by its error, and adds the errors up. */
  judge(): number {
    let loss = 0;
    for (let row = 0; row < this.#rows.length; row++) {
      this.#predicted[row] = this.#computeUs(row) + this.#apartUs[row]!;
    }
    for (const row of this.#launched) {
      this.#predicted[row] = this.#launchedTime(row, this.#launchUs);
      this.#follows[row] = boundByCompute(this.#launchUs, this.#computeUs(row));
    }
    for (const [row, { sample, us, shareOf }] of this.#rows.entries()) {
      const whole = this.#predicted[shareOf]!;
      const error = Math.abs(us - this.#predicted[row]!) / whole;
      loss += sample.count * lossOf(error);
      this.#weights[row] = (sample.count / whole ** 2) * Math.min(1, USUAL_ERROR / Math.max(error, 1e-12));
    }
    return loss;
  }

  /** Which bound holds for the attention of each step's prompts; whether any has changed. */
  chooseBounds(): boolean {
    let changed = false;
    for (const [row, { sample }] of this.#rows.entries()) {
      if (sample.shape.prefills === 0) continue;
      const byPairs = this.#terms.isByPairs(sample.shape, this.#coefficients) ? 1 : 0;
      if (byPairs === this.#byPairs[row]) continue;
      this.#byPairs[row] = byPairs;
      this.#writeColumns(row);
      changed = true;
    }
    return changed;
  }

  result(): Omit<StepFit, 'loss'> {
    const { sharedContext } = this.#settings;
    return {
      costs: this.#terms.costs(this.#coefficients, sharedContext, this.#launchUs, this.#measure),
      terms: this.#terms,
      coefficients: this.#coefficients,
      rows: this.#rows,
      slopes: this.#slopes(),
      predicted: this.#predicted,
      weights: this.#weights,
    };
  }

  #writeColumns(row: number): void {
    const { sample, part } = this.#rows[row]!;
    const at = row * this.#terms.columns;
    this.#terms.write(sample, part, this.#byPairs[row] === 1, this.#settings.sharedContext, this.#columns, at);
  }

  /** How rows follow each coefficient. Nothing hides or slows down the choice of kernels and the host's work. */
  #slopes(): Float64Array {
    const { columns: n } = this.#terms;
    const slopes = Float64Array.from(this.#columns);
    for (let row = 0; row < this.#rows.length; row++) {
      const follows = this.#follows[row]!;
      const times = follows * this.#slower(row);
      const at = row * n;
      for (let i = 0; i < n; i++) if (slopes[at + i] !== 0 && !this.#isApart(i)) slopes[at + i]! *= times;
      slopes[at + this.#slowdown] = follows * this.#rows[row]!.load2 * this.#gpuUs[row]!;
    }
    return slopes;
  }

  #isApart(column: number): boolean {
    return column === this.#firstUs || this.#terms.isHost(column);
  }

  #addUp(row: number): void {
    const at = row * this.#terms.columns;
    this.#gpuUs[row] = 0;
    this.#apartUs[row] = 0;
    for (let i = 0; i < this.#terms.columns; i++) {
      if (this.#columns[at + i] === 0) continue;
      const us = this.#isApart(i) ? this.#apartUs : this.#gpuUs;
      us[row]! += this.#columns[at + i]! * this.#coefficients[i]!;
    }
  }

  #slower(row: number): number {
    return 1 + this.#coefficients[this.#slowdown]! * this.#rows[row]!.load2;
  }

  #computeUs(row: number): number {
    return this.#gpuUs[row]! * this.#slower(row);
  }

  /** A step that is launched kernel by kernel. Kernels are selected before the GPU has work, so nothing hides it. */
  #launchedTime(row: number, launchUs: number): number {
    return notBefore(launchUs, this.#computeUs(row)) + this.#apartUs[row]!;
  }

  #launchedLoss(launchUs: number): number {
    let loss = 0;
    for (const row of this.#launched) {
      const { us, sample } = this.#rows[row]!;
      loss += sample.count * lossOf(Math.abs(us / this.#launchedTime(row, launchUs) - 1));
    }
    return loss;
  }
}

function lossOf(error: number): number {
  return error <= USUAL_ERROR ? error ** 2 : USUAL_ERROR * (2 * error - USUAL_ERROR);
}
