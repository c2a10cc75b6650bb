import type { RoutingPolicy } from '../contract.js';
import { explainFact, explainRule } from '../explanation.js';
import { BestChoice, type TieBreak, tieBreakOption } from './parts/best-choice.js';

/** A waiting request delays a new one more than a running request, which shares its steps. */
const QUEUED_WEIGHT = 4;

export const vllmLeast: RoutingPolicy<{ tie_break: TieBreak }> = {
  name: 'vllm-least',
  summary: "The balancer of vLLM's data-parallel ranks: the least 4 x waiting + running.",
  goodFor: 'Comparing with an engine that spreads requests over its ranks by this rule, with fresh signals.',
  notFor:
    'Old signals: it does not count what was sent since the last report, so everything until the next report goes to one replica. Prompts that share prefixes.',
  formula: 'least 4 * queued + running; the first among equals',
  options: { tie_break: tieBreakOption },
  reads: () => ['queued', 'running'],
  create({ tie_break }, { random, replicas }) {
    const scores = new Float64Array(replicas);
    const best = new BestChoice(tie_break, random);
    return {
      pick(_request, view, why) {
        for (let i = 0; i < view.size; i++) scores[i] = 0 - (QUEUED_WEIGHT * view.queued[i]! + view.running[i]!);
        const chosen = best.among(view, scores);
        if (why !== undefined) {
          explainFact(why, 'queued', view, view.queued);
          explainFact(why, 'running', view, view.running);
          explainRule(why, chosen, best.tied, 'least 4 x queued + running');
        }
        return chosen;
      },
    };
  },
};
