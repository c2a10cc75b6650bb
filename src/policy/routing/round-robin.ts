import type { RoutingPolicy } from '../contract.js';
import { explainRule } from '../explanation.js';
import { NO_OPTIONS } from '../options.js';
import { eligibleCount, nthEligible } from './parts/eligible.js';

export const roundRobin: RoutingPolicy = {
  name: 'round-robin',
  summary: 'Takes replicas in turn, in fleet order, regardless of load.',
  goodFor:
    'Requests of similar length on replicas of the same kind, and as the baseline that every other policy has to beat.',
  notFor:
    'Prompts that share prefixes, which it scatters over all caches, and lengths so different that equal counts are unequal work.',
  formula: 'the (n mod k)-th of the k eligible replicas for decision number n, counted from 0',
  options: NO_OPTIONS,
  reads: () => [],
  create() {
    let decisions = 0;
    return {
      pick(_request, view, why) {
        const candidates = eligibleCount(view);
        if (why !== undefined) why.state.numbers[0] = decisions;
        const chosen = candidates === 0 ? -1 : nthEligible(view, decisions++ % candidates);
        if (why !== undefined) explainRule(why, chosen, 0, 'its turn');
        return chosen;
      },
      restore({ numbers }) {
        decisions = numbers[0]!;
      },
    };
  },
};
