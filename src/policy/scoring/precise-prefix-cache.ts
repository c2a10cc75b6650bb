import type { Scorer } from '../contract.js';
import { scoreByRange } from './score-by-range.js';

export const precisePrefixCache: Scorer = {
  name: 'precise-prefix-cache',
  summary: "Prefers replicas whose own cache holds the longest part of this prompt, compared with the others' caches.",
  goodFor:
    'The same traffic as prefix-affinity when replicas report what they hold: it sees evictions, which the record of the router does not.',
  notFor:
    'Fleets that do not publish their caches. Equal caches score 1 everywhere, so a single cached block somewhere is enough to decide.',
  reads: ['replicaCache'],
  formula: '(cached - min) / (max - min) over cached leading blocks; 1 when all are equal',
  create: () => ({
    score: (request, view, scores) => scoreByRange(view, request.cachedBlocks, 'greatest', scores),
  }),
};
