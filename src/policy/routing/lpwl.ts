import type { RoutingPolicy } from '../contract.js';
import { explainFact, explainHits, explainRule } from '../explanation.js';
import { hitTokens } from '../request-features.js';
import { blockSizeOption } from './parts/block-size.js';

export const lpwl: RoutingPolicy<{ block_size: number }> = {
  name: 'lpwl',
  summary: 'Least pending work: the fewest uncached prompt tokens to compute if the replica gets the request.',
  goodFor: 'Long prompts and short outputs, where time to first token is the prompt work ahead of a request.',
  notFor: 'Long outputs: a replica that only decodes has no pending work and looks idle, however large its batch is.',
  formula: 'least pendingPrefillTokens + input - hit; among equals least inFlight, then the first',
  options: { block_size: blockSizeOption(0) },
  blockSize: ({ block_size }) => block_size,
  reads: () => ['pendingPrefillTokens', 'inFlight', 'prefixIndex'],
  create(_options, { replicas }) {
    const work = new Float64Array(replicas);
    return {
      pick(request, view, why) {
        let chosen = -1;
        let tied = 0;
        for (let i = 0; i < view.size; i++) {
          if (view.eligible[i] === 0) continue;
          work[i] = view.pendingPrefillTokens[i]! + request.inputTokens - hitTokens(request, i);
          const order = chosen < 0 ? -1 : work[i]! - work[chosen]! || view.inFlight[i]! - view.inFlight[chosen]!;
          if (order > 0) continue;
          if (order < 0) {
            chosen = i;
            tied = 0;
          }
          tied++;
        }
        if (why !== undefined) {
          explainFact(why, 'pending work', view, work);
          explainHits(why, view, request);
          explainFact(why, 'in flight', view, view.inFlight);
          explainRule(why, chosen, tied, 'least pending prompt work');
        }
        return chosen;
      },
    };
  },
};
