import { lognormal } from '../../kernel/distributions.js';
import {
  always,
  Bounds,
  boundedParameters,
  type LengthDistribution,
  type LengthParameter,
} from './length-distribution.js';

/** The parameters of a lognormal distribution, alone or in a mixture. */
export const LOGNORMAL_PARAMETERS: Readonly<Record<'mu' | 'sigma', LengthParameter>> = {
  mu: { values: { min: -50, max: 50 }, needed: true, help: 'mean of the natural logarithm: the median is e^mu' },
  sigma: { values: { min: 0, max: 20 }, needed: true, help: 'standard deviation of the natural logarithm' },
};

export const lognormalLength: LengthDistribution = {
  name: 'lognormal',
  summary: 'as lengths of prompts and responses usually are: the logarithm is gaussian',
  parameters: boundedParameters(LOGNORMAL_PARAMETERS),
  create(parameters, limits) {
    const bounds = new Bounds(parameters, limits);
    const mu = parameters.mu!;
    const sigma = parameters.sigma!;
    if (bounds.leavesNoChoice || sigma === 0) return always(bounds.whole(Math.exp(mu)));
    return { draw: (random) => bounds.whole(lognormal(random, mu, sigma)) };
  },
};
