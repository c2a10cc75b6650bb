import { field, number } from '../../schema/fields.js';
import type { RoutingPolicy } from '../contract.js';
import { explainFact, explainHits, explainRule } from '../explanation.js';
import type { FleetView } from '../fleet-view.js';
import { hitTokens } from '../request-features.js';
import { blockSizeOption } from './parts/block-size.js';

interface SglangOptions {
  balance_abs_threshold: number;
  balance_rel_threshold: number;
  cache_threshold: number;
  block_size: number;
}

export const sglangCacheAware: RoutingPolicy<SglangOptions> = {
  name: 'sglang-cache-aware',
  summary:
    "SGLang's router: the best prefix match, the smallest tree for new prefixes, the fewest in flight when out of balance.",
  goodFor:
    'Comparing with the router of SGLang or one that follows it: cache first, load only when it is far out of balance.',
  notFor:
    'Few requests in flight: up to 64 more on one replica than on another still count as balanced, so hot prefixes pile up.',
  formula:
    'if max - min > 64 and max > 1.5 * min over inFlight: least inFlight; else the greatest hit / input if above 0.3; else the fewest indexed blocks; the first among equals',
  options: {
    balance_abs_threshold: field(number(0), {
      default: 64,
      help: 'difference in requests in flight above which the fleet is out of balance',
      search: { from: 1, to: 128, log: true },
    }),
    balance_rel_threshold: field(number(0), {
      default: 1.5,
      help: 'ratio that must be exceeded as well',
      search: { from: 1, to: 4, log: true },
    }),
    cache_threshold: field(number(0), {
      default: 0.3,
      help: 'share of the prompt that must match to follow the cache',
      search: { from: 0.05, to: 0.95 },
    }),
    block_size: blockSizeOption(0),
  },
  blockSize: ({ block_size }) => block_size,
  reads: () => ['inFlight', 'prefixIndex', 'indexedBlocks'],
  create({ balance_abs_threshold, balance_rel_threshold, cache_threshold }) {
    return {
      pick(request, view, why) {
        const shortest = first(view, view.inFlight, 'least');
        let chosen = shortest;
        let rule = 'fewest in flight: out of balance';
        if (shortest >= 0) {
          const min = view.inFlight[shortest]!;
          const max = view.inFlight[first(view, view.inFlight, 'greatest')]!;
          if (!(max - min > balance_abs_threshold && max > balance_rel_threshold * min)) {
            const match = first(view, request.routedBlocks, 'greatest');
            const follows = hitTokens(request, match) / Math.max(request.inputTokens, 1) > cache_threshold;
            chosen = follows ? match : first(view, view.indexedBlocks, 'least');
            rule = follows ? 'best prefix match' : 'smallest prefix tree: no match is good enough';
          }
        }
        if (why !== undefined) {
          explainFact(why, 'in flight', view, view.inFlight);
          explainHits(why, view, request);
          explainFact(why, 'indexed blocks', view, view.indexedBlocks);
          explainRule(why, chosen, 0, rule);
        }
        return chosen;
      },
    };
  },
};

/** The first eligible replica with the least or greatest value, -1 when none is eligible. */
function first(view: FleetView, values: Int32Array, wanted: 'least' | 'greatest'): number {
  const sign = wanted === 'least' ? 1 : -1;
  let found = -1;
  for (let i = 0; i < view.size; i++) {
    if (view.eligible[i] !== 0 && (found < 0 || sign * values[i]! < sign * values[found]!)) found = i;
  }
  return found;
}
