import { field, number } from '../../schema/fields.js';
import type { RoutingPolicy } from '../contract.js';
import { explainFact, explainHits, explainRule, explainScores } from '../explanation.js';
import type { FleetView } from '../fleet-view.js';
import { hitTokens, type RequestFeatures } from '../request-features.js';
import { BestChoice, type TieBreak, tieBreakOption } from './parts/best-choice.js';
import { blockSizeOption } from './parts/block-size.js';

/** Prompt tokens to compute if the replica gets the request, times the requests in flight there. */
export function lmetricScore(request: RequestFeatures, view: FleetView, replica: number, batchOffset: number): number {
  const uncached = request.inputTokens - hitTokens(request, replica);
  return (view.pendingPrefillTokens[replica]! + uncached) * (view.inFlight[replica]! + batchOffset);
}

export const lmetric: RoutingPolicy<{ batch_offset: number; tie_break: TieBreak; block_size: number }> = {
  name: 'lmetric',
  summary: 'Picks the least product of prompt tokens to compute and requests in flight: cache and load in one number.',
  goodFor:
    'Sessions and agents with long, shared prompts: a warm cache wins at equal load, and an idle replica wins over a busy warm one. It has no weights to tune.',
  notFor:
    'Fleets that are mostly idle: a replica with nothing in flight scores 0 even if it has nothing cached, so the first idle one wins; `batch_offset: 1` avoids that. Outputs of very different length: it counts requests, not output tokens.',
  formula: 'least (pendingPrefillTokens + max(0, input - hit)) * (inFlight + batch_offset); the first among equals',
  options: {
    batch_offset: field(number(0), {
      default: 0,
      help: 'added to the requests in flight; 1 as in the published LMetric',
      search: { from: 0, to: 16 },
    }),
    tie_break: tieBreakOption,
    block_size: blockSizeOption(512),
  },
  blockSize: ({ block_size }) => block_size,
  reads: () => ['inFlight', 'pendingPrefillTokens', 'prefixIndex'],
  create({ batch_offset, tie_break }, { random, replicas }) {
    const scores = new Float64Array(replicas);
    const best = new BestChoice(tie_break, random);
    return {
      pick(request, view, why) {
        for (let i = 0; i < view.size; i++) scores[i] = 0 - lmetricScore(request, view, i, batch_offset);
        const chosen = best.among(view, scores);
        if (why !== undefined) {
          explainScores(why, view, scores);
          explainHits(why, view, request);
          explainFact(why, 'pending prefill tokens', view, view.pendingPrefillTokens);
          explainFact(why, 'in flight', view, view.inFlight);
          explainRule(why, chosen, best.tied, 'least prompt work times requests in flight');
        }
        return chosen;
      },
    };
  },
};
