import { gaussian } from '../../kernel/distributions.js';
import { always, Bounds, boundedParameters, type LengthDistribution } from './length-distribution.js';

export const gaussianLength: LengthDistribution = {
  name: 'gaussian',
  summary: 'around a mean; cut at min and max, then rounded',
  parameters: boundedParameters({
    mean: { values: 'amount', needed: true, help: 'mean before it is cut' },
    std_dev: { values: 'amount', needed: true, help: 'standard deviation before it is cut' },
  }),
  create(parameters, limits) {
    const bounds = new Bounds(parameters, limits);
    const mean = parameters.mean!;
    const deviation = parameters.std_dev!;
    if (bounds.leavesNoChoice || deviation === 0) return always(bounds.whole(mean));
    return { draw: (random) => bounds.whole(mean + deviation * gaussian(random)) };
  },
};
