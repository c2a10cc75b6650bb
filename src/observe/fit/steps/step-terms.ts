import type { BatchShape } from '../../../replica/latency/contract.js';
import type { Slowdown, StepCosts, TokenPoint } from '../../../replica/latency/profile.js';
import { batchTokens, launchedTokens, sharedTokens, unevenContext } from '../../../replica/latency/profile-latency.js';
import type { StepSample } from './step-sample.js';

/** Costs per something, in the order of their columns. */
export const UNIT_COSTS = [
  'decodeContextUs',
  'mixedContextUs',
  'unevenContextUs',
  'mixedUnevenContextUs',
  'mixedDecodeUs',
  'prefillPairUs',
  'prefillLongestUs',
  'prefillRequestUs',
  'requestUs',
] as const;

export type UnitCost = (typeof UNIT_COSTS)[number];

/** The host's costs of a step besides those of each request. */
const HOST_COSTS = ['hostStepUs', 'hostPromptUs', 'hostPromptTokenUs'] as const;

/** Everything with a column: those, the cost of the first launch of a size, and the slowdown of a GPU under load. */
export const TERMS = [...UNIT_COSTS, ...HOST_COSTS, 'firstUs', 'slowdown'] as const;

export type Term = (typeof TERMS)[number];

/** What of a step was measured. */
export type Part = 'gpu' | 'host' | 'whole';

/** Less than this is what rounding left. */
const LEAST_FIRST_US = 1;
const LEAST_SLOWDOWN = 0.001;

/**
 * A step's time as a sum of columns, each times a coefficient of at least 0. The two curves by tokens consist of ramps
 * between neighbouring knots, so that they never fall. The slowdown is a share of the other costs, so its column is
 * written by the caller.
 */
export class StepTerms {
  readonly columns: number;
  readonly #decodeKnots: readonly number[];
  readonly #mixedKnots: readonly number[];
  readonly #units: number;
  readonly #hostApart: boolean;
  readonly #hostMeasured: boolean;
  readonly #launchedAbove: number;

  /**
   * @param hostApart some steps were measured without the host's work: only then its work per request can be separated
   * from the GPU's, and has its own column
   * @param hostMeasured some steps have the time of the host
   * @param launchedAbove steps with more prompt tokens are launched piece by piece
   */
  constructor(
    decodeKnots: readonly number[],
    mixedKnots: readonly number[],
    hostApart: boolean,
    hostMeasured: boolean,
    launchedAbove: number,
  ) {
    this.#hostApart = hostApart || hostMeasured;
    this.#hostMeasured = hostMeasured;
    this.#launchedAbove = launchedAbove;
    this.#decodeKnots = decodeKnots;
    this.#mixedKnots = mixedKnots;
    this.#units = decodeKnots.length + mixedKnots.length;
    this.columns = this.#units + TERMS.length;
  }

  /** The column of a term. */
  unit(term: Term): number {
    return this.#units + TERMS.indexOf(term);
  }

  /** Whether a column is the host's work, which does not depend on the GPU's load. */
  isHost(column: number): boolean {
    return column === this.unit('requestUs') || HOST_COSTS.some((cost) => column === this.unit(cost));
  }

  /**
   * Writes the columns of a step, or of a part of it, to out[at...]. `byPairs`: which of the two costs of attention is
   * larger; `shared`: the relative cost of a shared token of context.
   */
  write(sample: StepSample, part: Part, byPairs: boolean, shared: number, out: Float64Array, at: number): void {
    out.fill(0, at, at + this.columns);
    if (part !== 'gpu' && sample.inService) this.#writeHost(sample.shape, out, at);
    if (part !== 'host') this.#writeGpu(sample, byPairs, shared, out, at);
  }

  #writeHost({ scheduled, prefills, prefillTokens }: BatchShape, out: Float64Array, at: number): void {
    if (this.#hostApart) out[at + this.unit('requestUs')] = scheduled;
    if (!this.#hostMeasured) return;
    out[at + this.unit('hostStepUs')] = 1;
    out[at + this.unit('hostPromptUs')] = prefills;
    out[at + this.unit('hostPromptTokenUs')] = prefillTokens;
  }

  #writeGpu({ shape, firstOfSize }: StepSample, byPairs: boolean, shared: number, out: Float64Array, at: number): void {
    const { decodes } = shape;
    const mixed = shape.prefills > 0;
    const curve = mixed ? at + this.#decodeKnots.length : at;
    writeRamps(mixed ? this.#mixedKnots : this.#decodeKnots, batchTokens(shape), out, curve);
    const put = (term: Term, value: number) => {
      out[at + this.unit(term)] = value;
    };
    const context = shape.decodeContext - (1 - shared) * sharedTokens(shape);
    const uneven = unevenContext(shape);
    if (!mixed) {
      put('decodeContextUs', context);
      put('unevenContextUs', uneven * Math.sqrt(decodes));
      return;
    }
    put('mixedContextUs', context);
    put('mixedUnevenContextUs', uneven);
    put('mixedDecodeUs', decodes);
    if (byPairs) put('prefillPairUs', shape.prefillPairs);
    else put('prefillLongestUs', shape.prefillLongest);
    put('prefillRequestUs', shape.prefills);
    if (firstOfSize && launchedTokens(shape, this.#launchedAbove) > 0) put('firstUs', 1);
  }

  /** Whether attention costs more by pairs than by the longest prompt. */
  isByPairs(shape: BatchShape, coefficients: Float64Array): boolean {
    const pairs = coefficients[this.unit('prefillPairUs')]! * shape.prefillPairs;
    return pairs >= coefficients[this.unit('prefillLongestUs')]! * shape.prefillLongest;
  }

  /** The profile of these coefficients. `load` is how the GPU's load was measured. */
  costs(coefficients: Float64Array, sharedContext: number, launchUs: number, load: Omit<Slowdown, 'share'>): StepCosts {
    const decodes = this.#decodeKnots.length;
    const of = (term: Term) => coefficients[this.unit(term)]!;
    const firstUs = of('firstUs') < LEAST_FIRST_US ? 0 : of('firstUs');
    const share = of('slowdown');
    const host = {
      stepUs: of('hostStepUs'),
      promptUs: of('hostPromptUs'),
      promptTokenUs: of('hostPromptTokenUs'),
    };
    const units = Object.fromEntries(UNIT_COSTS.map((cost) => [cost, of(cost)]));
    return {
      decodeOnly: pointsOf(this.#decodeKnots, coefficients.subarray(0, decodes)),
      withPrefill: pointsOf(this.#mixedKnots, coefficients.subarray(decodes, this.#units)),
      ...(units as Record<UnitCost, number>),
      ...(this.#hostMeasured ? { host } : {}),
      sharedContext,
      launch: launchUs + firstUs > 0 ? { aboveTokens: this.#launchedAbove, us: launchUs, firstUs } : null,
      ...(share < LEAST_SLOWDOWN ? {} : { slowdown: { share, ...load } }),
    };
  }
}

/** 1 for the first knot, then how much of the way to each further knot the tokens have gone; beyond the last one on. */
function writeRamps(knots: readonly number[], tokens: number, out: Float64Array, at: number): void {
  out[at] = 1;
  for (let i = 1; i < knots.length; i++) {
    const share = (tokens - knots[i - 1]!) / (knots[i]! - knots[i - 1]!);
    out[at + i] = Math.max(0, i === knots.length - 1 ? share : Math.min(1, share));
  }
}

function pointsOf(knots: readonly number[], rises: Float64Array): TokenPoint[] {
  let us = 0;
  return knots.map((tokens, i) => {
    us += rises[i]!;
    return { tokens, us };
  });
}

/** Where curves by tokens may bend. Engines replay recorded graphs up to 512 tokens, and launch kernels beyond. */
const LADDER = [
  1, 4, 8, 16, 32, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 1024, 1536, 2048, 3072, 4096, 8192, 16_384,
];

/** Fewer steps than this between two knots do not show a bend. */
const LEAST_STEPS = 3;
const LONGEST_SHARE = 0.8;

/**
 * The knots that steps of these sizes support: the smallest size, rungs of the ladder with steps on both sides, and the
 * largest size. A step above `launchedAbove` tokens is launched differently: the curve may jump there.
 */
export function knotsFor(sizes: readonly number[], launchedAbove: number): number[] {
  const sorted = Float64Array.from(sizes).sort();
  if (sorted.length === 0) return [1];
  const knots = [sorted[0]!];
  const last = sorted.at(-1)!;
  const within = (from: number, to: number) => sorted.filter((size) => size > from && size <= to).length;
  for (const rung of [...LADDER, launchedAbove + 1].sort((a, b) => a - b)) {
    // The last stretch is extrapolated beyond the data, so it must not be short.
    if (rung <= knots.at(-1)! || rung > LONGEST_SHARE * last) continue;
    const jump = rung === launchedAbove + 1 && knots.at(-1) === launchedAbove;
    if ((jump || within(knots.at(-1)!, rung) >= LEAST_STEPS) && within(rung, last) >= LEAST_STEPS) knots.push(rung);
  }
  if (last > knots.at(-1)!) knots.push(last);
  return knots;
}
