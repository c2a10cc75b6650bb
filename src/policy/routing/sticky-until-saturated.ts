import { field, number } from '../../schema/fields.js';
import type { RoutingPolicy } from '../contract.js';
import { explainFact, explainHits, explainRule } from '../explanation.js';
import { effectiveLoad, type FleetView } from '../fleet-view.js';
import type { RequestFeatures } from '../request-features.js';
import { blockSizeOption } from './parts/block-size.js';

interface SaturationOptions {
  queue_threshold: number;
  kv_threshold: number;
  block_size: number;
}

export const stickyUntilSaturated: RoutingPolicy<SaturationOptions> = {
  name: 'sticky-until-saturated',
  summary: 'As in llm-d: the best prefix match until that replica is saturated, then the least loaded one.',
  goodFor:
    'Prefixes that many requests share on a fleet with room: reuse is never given up for a small difference in load.',
  notFor:
    'Old signals: a replica looks unsaturated until the next report, and everything that shares its prefix follows until then.',
  formula:
    'most leading blocks sent there before, least loaded among equals, unless its queued > 5 or kvUsed > 0.8; then, and if no block is known, least queued + running + inFlight',
  options: {
    queue_threshold: field(number(0), {
      default: 5,
      help: 'queued requests above which a replica is saturated',
      search: { from: 0.5, to: 64, log: true },
    }),
    kv_threshold: field(number(0), {
      default: 0.8,
      help: 'share of used KV blocks above which a replica is saturated',
      search: { from: 0.4, to: 1 },
    }),
    block_size: blockSizeOption(0),
  },
  blockSize: ({ block_size }) => block_size,
  reads: () => ['queued', 'running', 'inFlight', 'kvUsed', 'prefixIndex'],
  create({ queue_threshold, kv_threshold }) {
    return {
      pick(request, view, why) {
        const match = best(view, request);
        const known = match >= 0 && request.routedBlocks[match]! > 0;
        const saturated = known && (view.queued[match]! > queue_threshold || view.kvUsed[match]! > kv_threshold);
        const chosen = known && !saturated ? match : best(view, null);
        if (why !== undefined) {
          explainHits(why, view, request);
          explainFact(why, 'queued', view, view.queued);
          explainFact(why, 'KV used', view, view.kvUsed);
          if (saturated) why.removed.set(match, 'saturated');
          const fallback = saturated ? 'least loaded: the best match is saturated' : 'least loaded: no block is known';
          explainRule(why, chosen, 0, known && !saturated ? 'best prefix match' : fallback);
        }
        return chosen;
      },
    };
  },
};

/** The least loaded of the replicas with the longest match for the request, or of all without a request. */
function best(view: FleetView, request: RequestFeatures | null): number {
  let found = -1;
  for (let i = 0; i < view.size; i++) {
    if (view.eligible[i] === 0) continue;
    if (found < 0) {
      found = i;
      continue;
    }
    const known = request === null ? 0 : request.routedBlocks[i]! - request.routedBlocks[found]!;
    if (known > 0 || (known === 0 && effectiveLoad(view, i) < effectiveLoad(view, found))) found = i;
  }
  return found;
}
