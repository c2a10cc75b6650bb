import type { BatchShape } from '../../replica/latency/contract.js';
import type { StepCosts, TokenPoint } from '../../replica/latency/profile.js';
import { launchedTokens, sharedTokens, unevenContext } from '../../replica/latency/profile-latency.js';
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

/** All that has a column of its own: those, and what the first launch of a size costs. */
export const TERMS = [...UNIT_COSTS, 'firstUs'] as const;

export type Term = (typeof TERMS)[number];

/**
 * A step's time as a sum of columns, each times a coefficient of at least 0. The two curves by tokens are made of ramps
 * between neighbouring knots, so that they never fall.
 */
export class StepTerms {
  readonly columns: number;
  readonly #decodeKnots: readonly number[];
  readonly #mixedKnots: readonly number[];
  readonly #units: number;
  readonly #hostApart: boolean;
  readonly #launchedAbove: number;

  /**
   * @param hostApart some steps were measured without the host's work: only then what it does for each request can be told from
   * what the GPU does, and has a column of its own
   * @param launchedAbove steps of prompts above so many tokens are launched piece by piece
   */
  constructor(
    decodeKnots: readonly number[],
    mixedKnots: readonly number[],
    hostApart: boolean,
    launchedAbove: number,
  ) {
    this.#hostApart = hostApart;
    this.#launchedAbove = launchedAbove;
    this.#decodeKnots = decodeKnots;
    this.#mixedKnots = mixedKnots;
    this.#units = decodeKnots.length + mixedKnots.length;
    this.columns = this.#units + TERMS.length;
  }

  /** The column of a cost per something, or of a first launch. */
  unit(term: Term): number {
    return this.#units + TERMS.indexOf(term);
  }

  /**
   * Writes a step's columns to out[at...]. `byPairs` says which of the two costs of attention is the larger one, `shared` what a
   * shared token of context costs of one that is not.
   */
  write(sample: StepSample, byPairs: boolean, shared: number, out: Float64Array, at: number): void {
    const { shape, inService } = sample;
    const { decodes } = shape;
    const mixed = shape.prefills > 0;
    out.fill(0, at, at + this.columns);
    const curve = mixed ? at + this.#decodeKnots.length : at;
    writeRamps(mixed ? this.#mixedKnots : this.#decodeKnots, decodes + shape.prefillTokens, out, curve);
    const put = (term: Term, value: number) => {
      out[at + this.unit(term)] = value;
    };
    const context = shape.decodeContext - (1 - shared) * sharedTokens(shape);
    const uneven = unevenContext(shape);
    if (inService && this.#hostApart) put('requestUs', shape.scheduled);
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
    if (sample.firstOfSize && launchedTokens(shape, this.#launchedAbove) > 0) put('firstUs', 1);
  }

  /** Whether attention costs more by pairs than by the longest prompt. */
  isByPairs(shape: BatchShape, coefficients: Float64Array): boolean {
    const pairs = coefficients[this.unit('prefillPairUs')]! * shape.prefillPairs;
    return pairs >= coefficients[this.unit('prefillLongestUs')]! * shape.prefillLongest;
  }

  costs(coefficients: Float64Array, sharedContext: number, launchUs: number): StepCosts {
    const decodes = this.#decodeKnots.length;
    const first = coefficients[this.unit('firstUs')]!;
    // Less than a microsecond is what rounding left.
    const launch = { aboveTokens: this.#launchedAbove, us: launchUs, firstUs: first < 1 ? 0 : first };
    const units = Object.fromEntries(UNIT_COSTS.map((cost) => [cost, coefficients[this.unit(cost)]!]));
    return {
      decodeOnly: pointsOf(this.#decodeKnots, coefficients.subarray(0, decodes)),
      withPrefill: pointsOf(this.#mixedKnots, coefficients.subarray(decodes, this.#units)),
      ...(units as Record<UnitCost, number>),
      sharedContext,
      launch: launch.us + launch.firstUs > 0 ? launch : null,
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
