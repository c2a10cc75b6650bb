import { lognormal, pareto } from '../../kernel/distributions.js';
import { always, Bounds, boundedParameters, type LengthDistribution } from './length-distribution.js';
import { LOGNORMAL_PARAMETERS } from './lognormal.js';

export const paretoLognormalLength: LengthDistribution = {
  name: 'pareto_lognormal',
  summary: 'a lognormal body with a heavy Pareto tail mixed in',
  parameters: boundedParameters({
    alpha: { values: { min: 0, max: 100, above: true }, needed: true, help: 'power of the tail; 1 or less: no mean' },
    xm: { values: 'amount', needed: true, help: 'where the tail begins' },
    ...LOGNORMAL_PARAMETERS,
    mix_weight: { values: { min: 0, max: 1 }, needed: true, help: 'share of the tail' },
  }),
  create(parameters, limits) {
    const bounds = new Bounds(parameters, limits);
    const { alpha, xm, mu, sigma, mix_weight: weight } = parameters as Record<string, number>;
    if (bounds.leavesNoChoice) return always(bounds.whole(xm!));
    return {
      draw(random) {
        const isTail = random.next() < weight!;
        return bounds.whole(isTail ? pareto(random, xm!, alpha!) : lognormal(random, mu!, sigma!));
      },
    };
  },
};
