import type { Scorer } from '../contract.js';

/** Uses the router's own record of what it sent where: always fresh, but only an estimate of the real caches. */
export const prefixAffinity: Scorer = {
  name: 'prefix-affinity',
  summary: 'Prefers replicas that were sent the longest part of this prompt before, as far as the router remembers.',
  goodFor:
    'Shared system prompts, retrieval with common documents and growing sessions: the replica that has seen the prompt is likely to have it cached.',
  notFor:
    'Deciding alone: the first replica to see a prefix keeps getting all of it. Prompts without a common beginning score 0 everywhere.',
  reads: ['prefixIndex'],
  formula: 'leading blocks sent there before / full blocks of the prompt; 0 without a full block',
  create: () => ({
    score(request, view, scores) {
      for (let i = 0; i < view.size; i++) {
        if (view.eligible[i] === 0) continue;
        scores[i] = request.blockCount === 0 ? 0 : request.routedBlocks[i]! / request.blockCount;
      }
    },
  }),
};
