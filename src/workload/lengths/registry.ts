import { constant } from './constant.js';
import { empirical } from './empirical.js';
import { exponential } from './exponential.js';
import { gaussian } from './gaussian.js';
import type { LengthDistribution, LengthLimits, LengthSampler } from './length-distribution.js';
import { lognormal } from './lognormal.js';
import { paretoLognormal } from './pareto-lognormal.js';

/** Every law of lengths: a new one is a file and a line here. */
export const LENGTH_DISTRIBUTIONS: readonly LengthDistribution[] = [
  constant,
  gaussian,
  exponential,
  lognormal,
  paretoLognormal,
  empirical,
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
