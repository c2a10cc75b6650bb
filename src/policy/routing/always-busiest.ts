import type { RoutingPolicy } from '../contract.js';
import { explainLoad, explainRule } from '../explanation.js';
import { effectiveLoad } from '../fleet-view.js';
import { NO_OPTIONS } from '../options.js';
import { BestChoice } from './parts/best-choice.js';

/** Wrong on purpose: shows what regret, imbalance and anomalies look like in results. */
export const alwaysBusiest: RoutingPolicy = {
  name: 'always-busiest',
  summary: 'Picks the replica with the greatest effective load: wrong on purpose, for tests.',
  goodFor: 'Tests: it shows what imbalance, regret and head-of-line blocking look like in a result.',
  notFor: 'Anything else.',
  formula: 'greatest queued + running + inFlight; the first in fleet order among equals',
  options: NO_OPTIONS,
  reads: () => ['queued', 'running', 'inFlight'],
  create(_options, { random, replicas }) {
    const loads = new Float64Array(replicas);
    const busiest = new BestChoice('first', random);
    return {
      pick(_request, view, why) {
        for (let i = 0; i < view.size; i++) loads[i] = effectiveLoad(view, i);
        const chosen = busiest.among(view, loads);
        if (why !== undefined) {
          explainLoad(why, view);
          explainRule(why, chosen, busiest.tied, 'greatest effective load');
        }
        return chosen;
      },
    };
  },
};
