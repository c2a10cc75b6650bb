import type { RoutingPolicy } from '../contract.js';
import { explainRule } from '../explanation.js';
import { NO_OPTIONS } from '../options.js';
import { eligibleCount, nthEligible } from './parts/eligible.js';

export const random: RoutingPolicy = {
  name: 'random',
  summary: 'Draws a replica, all with the same probability.',
  goodFor: 'A baseline: what many routers do by default, without any state.',
  notFor: 'Everything else: some replicas get much more than others by chance, and prefixes are scattered.',
  formula: 'one of the eligible replicas, drawn from the seeded stream',
  options: NO_OPTIONS,
  reads: () => [],
  create(_options, { random: stream }) {
    return {
      pick(_request, view, why) {
        const candidates = eligibleCount(view);
        const draw = candidates > 1 ? stream.below(candidates) : 0;
        const chosen = candidates === 0 ? -1 : nthEligible(view, draw);
        if (why !== undefined) explainRule(why, chosen, 0, 'drawn');
        return chosen;
      },
    };
  },
};
