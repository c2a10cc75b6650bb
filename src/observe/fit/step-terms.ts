import type { BatchShape } from '../../replica/latency/contract.js';
import type { StepCosts, TokenPoint } from '../../replica/latency/profile.js';
import { sharedTokens, unevenContext } from '../../replica/latency/profile-latency.js';
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

  /**
   * @param hostApart some steps were measured without the host's work: only then what it does for each request can be told from
   * what the GPU does, and has a column of its own
   */
  constructor(decodeKnots: readonly number[], mixedKnots: readonly number[], hostApart: boolean) {
    this.#hostApart = hostApart;
    this.#decodeKnots = decodeKnots;
    this.#mixedKnots = mixedKnots;
    this.#units = decodeKnots.length + mixedKnots.length;
    this.columns = this.#units + UNIT_COSTS.length;
  }

  /** The column of a cost per something. */
  unit(cost: UnitCost): number {
    return this.#units + UNIT_COSTS.indexOf(cost);
  }

  /**
   * Writes a step's columns to out[at...]. `byPairs` says which of the two costs of attention is the larger one, `shared` what a
   * shared token of context costs of one that is not.
   */
  write({ shape, inService }: StepSample, byPairs: boolean, shared: number, out: Float64Array, at: number): void {
    const { decodes } = shape;
    const mixed = shape.prefills > 0;
    out.fill(0, at, at + this.columns);
    const curve = mixed ? at + this.#decodeKnots.length : at;
    writeRamps(mixed ? this.#mixedKnots : this.#decodeKnots, decodes + shape.prefillTokens, out, curve);
    const put = (cost: UnitCost, value: number) => {
      out[at + this.unit(cost)] = value;
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
  }

  /** Whether attention costs more by pairs than by the longest prompt. */
  isByPairs(shape: BatchShape, coefficients: Float64Array): boolean {
    const pairs = coefficients[this.unit('prefillPairUs')]! * shape.prefillPairs;
    return pairs >= coefficients[this.unit('prefillLongestUs')]! * shape.prefillLongest;
  }

  costs(coefficients: Float64Array, sharedContext: number, launch: StepCosts['launch']): StepCosts {
    const decodes = this.#decodeKnots.length;
    const units = Object.fromEntries(UNIT_COSTS.map((cost) => [cost, coefficients[this.unit(cost)]!]));
    return {
      decodeOnly: pointsOf(this.#decodeKnots, coefficients.subarray(0, decodes)),
      withPrefill: pointsOf(this.#mixedKnots, coefficients.subarray(decodes, this.#units)),
      ...(units as Record<UnitCost, number>),
      sharedContext,
      launch,
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
