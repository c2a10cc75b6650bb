import type { RoutingPolicy } from '../contract.js';
import { NO_OPTIONS } from '../options.js';
import { explainRule } from './explain.js';

export const roundRobin: RoutingPolicy = {
  name: 'round-robin',
  summary: 'Gives each replica its turn, in fleet order, whatever the load.',
  goodFor:
    'Requests of similar length on replicas of the same kind, and as the base line that every other policy has to beat.',
  notFor:
    'Prompts that share prefixes, which it scatters over all caches, and lengths that differ so much that equal counts are unequal work.',
  formula: 'the (n mod k)-th of the k eligible replicas for decision number n, counted from 0',
  options: NO_OPTIONS,
  reads: () => [],
  create() {
    let decisions = 0;
    return {
      pick(_request, view, why) {
        let candidates = 0;
        for (let i = 0; i < view.size; i++) if (view.eligible[i] !== 0) candidates++;

        let chosen = -1;
        if (candidates > 0) {
          for (let skip = decisions++ % candidates; skip >= 0; skip--) {
            do chosen++;
            while (view.eligible[chosen] === 0);
          }
        }
        if (why !== undefined) explainRule(why, chosen, 0, 'its turn');
        return chosen;
      },
    };
  },
};
