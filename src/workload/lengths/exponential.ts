import { exponential } from '../../kernel/distributions.js';
import { always, Bounds, boundedParameters, type LengthDistribution } from './length-distribution.js';

export const exponentialLength: LengthDistribution = {
  name: 'exponential',
  summary: 'mostly short, with a tail',
  parameters: boundedParameters({ mean: { values: 'amount', needed: true, help: 'mean before it is cut' } }),
  create(parameters, limits) {
    const bounds = new Bounds(parameters, limits);
    const mean = parameters.mean!;
    if (bounds.leavesNoChoice) return always(bounds.whole(mean));
    return { draw: (random) => bounds.whole(exponential(random, mean)) };
  },
};
