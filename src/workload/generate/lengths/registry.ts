import type { LengthSpec } from '../../spec/workload-spec.js';
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

/** Draws what a checked specification describes. */
export function lengthSampler({ type, params = {} }: LengthSpec, limits: LengthLimits): LengthSampler {
  return lengthDistribution(type).create(params, limits);
}
