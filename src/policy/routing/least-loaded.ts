import { z } from 'zod';
import type { RoutingPolicy } from '../contract.js';
import { effectiveLoad } from '../fleet-view.js';
import { BestChoice, tieBreakOption } from './best-choice.js';
import { explainLoad, explainRule, explainScores } from './explain.js';

const options = z.strictObject({ tie_break: tieBreakOption });

export const leastLoaded: RoutingPolicy<z.infer<typeof options>> = {
  name: 'least-loaded',
  summary: 'Picks the replica with the least effective load: queued + running + in flight.',
  options,
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
