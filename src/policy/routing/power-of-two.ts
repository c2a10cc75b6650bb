import type { RoutingPolicy } from '../contract.js';
import { explainFact, explainRule } from '../explanation.js';
import { NO_OPTIONS } from '../options.js';
import { eligibleCount, nthEligible } from './parts/eligible.js';

export const powerOfTwo: RoutingPolicy = {
  name: 'power-of-two',
  summary: 'Draws two replicas and takes the one with fewer requests in flight.',
  goodFor:
    'Several routers in front of one fleet: two choices balance nearly as well as comparing all, and routers that see the same values do not all choose the same replica.',
  notFor: 'A single router that sees the whole fleet at no cost, and prompts that share prefixes.',
  formula: 'draw two different eligible replicas; the one with less inFlight, the first drawn if they are equal',
  options: NO_OPTIONS,
  reads: () => ['inFlight'],
  create(_options, { random }) {
    return {
      pick(_request, view, why) {
        const candidates = eligibleCount(view);
        let chosen = candidates === 0 ? -1 : nthEligible(view, 0);
        let tied = 0;
        if (candidates > 1) {
          // One draw for the pair: all n * (n - 1) pairs are equally likely.
          const draw = random.below(candidates * (candidates - 1));
          const first = Math.floor(draw / (candidates - 1));
          const other = draw % (candidates - 1);
          const a = nthEligible(view, first);
          const b = nthEligible(view, other < first ? other : other + 1);
          chosen = view.inFlight[b]! < view.inFlight[a]! ? b : a;
          tied = view.inFlight[b] === view.inFlight[a] ? 2 : 1;
          if (why !== undefined) {
            for (let i = 0; i < view.size; i++) {
              if (i !== a && i !== b && view.eligible[i] !== 0) why.removed.set(i, 'not drawn');
            }
          }
        }
        if (why !== undefined) {
          explainFact(why, 'in flight', view, view.inFlight);
          explainRule(why, chosen, tied, 'fewer in flight of the two drawn');
        }
        return chosen;
      },
    };
  },
};
