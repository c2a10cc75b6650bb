import { constantLength } from './constant.js';
import { empiricalLength } from './empirical.js';
import { exponentialLength } from './exponential.js';
import { gaussianLength } from './gaussian.js';
import type { LengthDistribution, LengthLimits, LengthSampler } from './length-distribution.js';
import { lognormalLength } from './lognormal.js';
import { paretoLognormalLength } from './pareto-lognormal.js';

/** Every length distribution: a new one is a file and a line here. */
export const LENGTH_DISTRIBUTIONS: readonly LengthDistribution[] = [
  constantLength,
  gaussianLength,
  exponentialLength,
  lognormalLength,
  paretoLognormalLength,
  empiricalLength,
];

export function lengthDistribution(name: string): LengthDistribution {
  return LENGTH_DISTRIBUTIONS.find((distribution) => distribution.name === name)!;
}

/** A distribution with its parameters, as a specification names them. */
export interface LengthChoice {
  readonly type: string;
  readonly params?: Record<string, number>;
}

/** Draws what a checked specification describes. */
export function lengthSampler({ type, params = {} }: LengthChoice, limits: LengthLimits): LengthSampler {
  return lengthDistribution(type).create(params, limits);
}
