import type { RoutingPolicy } from '../contract.js';
import { explainLoad, explainRule, explainScores } from '../explanation.js';
import { effectiveLoad } from '../fleet-view.js';
import { BestChoice, type TieBreak, tieBreakOption } from './parts/best-choice.js';

export const leastLoaded: RoutingPolicy<{ tie_break: TieBreak }> = {
  name: 'least-loaded',
  summary: 'Picks the replica with the least effective load: queued + running + in flight.',
  goodFor: 'Lengths that vary and prompts that share nothing: requests go where the least work waits.',
  notFor:
    'Prompts that share prefixes: it does not know what is cached where. With old signals many decisions in a row see the same values, and only the in-flight counts tell replicas apart.',
  formula: 'least queued + running + inFlight',
  options: { tie_break: tieBreakOption },
  reads: () => ['queued', 'running', 'inFlight'],
  create({ tie_break }, { random, replicas }) {
    const scores = new Float64Array(replicas);
    const best = new BestChoice(tie_break, random);
    return {
      pick(_request, view, why) {
        for (let i = 0; i < view.size; i++) scores[i] = 0 - effectiveLoad(view, i);
        const chosen = best.among(view, scores);
        if (why !== undefined) {
          explainScores(why, view, scores);
          explainLoad(why, view);
          explainRule(why, chosen, best.tied, 'least effective load');
        }
        return chosen;
      },
    };
  },
};
