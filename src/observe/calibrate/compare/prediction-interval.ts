import { mean, percentile } from '../../../kernel/percentile.js';
import { randomStream } from '../../../kernel/random-stream.js';
import type { Repeatability } from './repeatability.js';

type Figure = 'mean' | 'median' | 'p90';
type Range = [low: number, high: number];

/** 95 % intervals of a metric's prediction, in microseconds, and of its error, as a share of what was measured. */
export type PredictionInterval = Record<Figure, { sim: Range; error: Range; holds_measured: boolean }>;

const FIGURES: readonly Figure[] = ['mean', 'median', 'p90'];
const RESAMPLES = 200;
const SEED = 42;
const LOW = 2.5;
const HIGH = 97.5;
/** Of a 95 % interval, in standard deviations. */
const SPAN = 1.96;
/** With fewer requests there are too few blocks to draw from. */
const LEAST = 8;

/**
 * A moving-block bootstrap over requests in order of sending: blocks of consecutive requests are drawn with replacement, because
 * neighbours share their load. The error's interval is that of the drawn pairs. The prediction's also holds what the hardware
 * itself repeats. Null for too few requests. Draws come from the random stream `calibrate/interval/<metric>`.
 */
export function predictionInterval(
  metric: string,
  real: Float64Array,
  sim: Float64Array,
  repeat: Repeatability,
): PredictionInterval | null {
  const n = real.length;
  if (n < LEAST) return null;
  const random = randomStream(SEED, `calibrate/interval/${metric}`);
  const block = Math.ceil(Math.sqrt(n));
  const sides = { real: new WeightedSample(real), sim: new WeightedSample(sim) };
  const drawn = { sim: emptyDraws(), error: emptyDraws() };
  const weights = new Int32Array(n);
  for (let i = 0; i < RESAMPLES; i++) {
    drawBlocks(weights, block, random.below);
    const [was, said] = [sides.real.figures(weights), sides.sim.figures(weights)];
    for (const figure of FIGURES) {
      drawn.sim[figure][i] = said[figure];
      drawn.error[figure][i] = was[figure] === 0 ? 0 : (said[figure] - was[figure]) / was[figure];
    }
  }
  const whole = { real: figuresOf(real), sim: figuresOf(sim) };
  return Object.fromEntries(
    FIGURES.map((figure) => {
      const error = rangeOf(drawn.error[figure]);
      const value = whole.sim[figure];
      const [low, high] = rangeOf(drawn.sim[figure]);
      const again = SPAN * repeat[figure] * value;
      const range: Range = [
        Math.max(0, value - Math.hypot(Math.max(0, value - low), again)),
        value + Math.hypot(Math.max(0, high - value), again),
      ];
      const measured = whole.real[figure];
      return [figure, { sim: range, error, holds_measured: measured >= range[0] && measured <= range[1] }];
    }),
  ) as PredictionInterval;
}

/** Counts how often each request is drawn: whole blocks from anywhere, around the end to the beginning, as many as there are requests. */
function drawBlocks(weights: Int32Array, block: number, below: (bound: number) => number): void {
  weights.fill(0);
  for (let left = weights.length; left > 0; left -= block) {
    let at = below(weights.length);
    for (let i = Math.min(block, left); i > 0; i--) {
      weights[at]!++;
      if (++at === weights.length) at = 0;
    }
  }
}

/** Values whose figures are wanted for many sets of weights: they are sorted once. */
class WeightedSample {
  readonly #values: Float64Array;
  readonly #order: Int32Array;

  constructor(values: Float64Array) {
    this.#values = values;
    this.#order = Int32Array.from(values, (_, i) => i).sort((a, b) => values[a]! - values[b]!);
  }

  /** The sum of weights is the number of values. */
  figures(weights: Int32Array): Record<Figure, number> {
    const values = this.#values;
    const n = values.length;
    const [middle, tail] = [0.5 * (n - 1), 0.9 * (n - 1)];
    let sum = 0;
    let before = 0;
    let median = Number.NaN;
    let p90 = Number.NaN;
    for (let i = 0; i < n; i++) {
      const at = this.#order[i]!;
      const weight = weights[at]!;
      sum += weight * values[at]!;
      before += weight;
      if (Number.isNaN(median) && before > middle) median = values[at]!;
      if (Number.isNaN(p90) && before > tail) p90 = values[at]!;
    }
    return { mean: sum / n, median, p90 };
  }
}

function figuresOf(values: Float64Array): Record<Figure, number> {
  const sorted = values.slice().sort();
  return { mean: mean(values), median: percentile(sorted, 50), p90: percentile(sorted, 90) };
}

function emptyDraws(): Record<Figure, Float64Array> {
  return { mean: new Float64Array(RESAMPLES), median: new Float64Array(RESAMPLES), p90: new Float64Array(RESAMPLES) };
}

function rangeOf(values: Float64Array): Range {
  values.sort();
  return [percentile(values, LOW), percentile(values, HIGH)];
}
