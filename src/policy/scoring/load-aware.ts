import type { Scorer } from '../contract.js';

/** A queue this long, or longer, scores 0. */
const LONGEST_QUEUE = 128;

export const loadAware: Scorer = {
  name: 'load-aware',
  summary:
    'Falls linearly from 0.5 for an empty queue to 0 for 128 waiting requests, regardless of the other replicas.',
  goodFor:
    'A penalty that depends on the replica alone: adding a replica or emptying another changes nothing for the rest.',
  notFor: 'Fleets without queues, where it is 0.5 for all, and queues beyond 128, which all score 0.',
  reads: ['queued'],
  formula: '0.5 * (1 - min(queued, 128) / 128)',
  create: () => ({
    score(_request, view, scores) {
      for (let i = 0; i < view.size; i++) {
        if (view.eligible[i] === 0) continue;
        scores[i] = 0.5 * (1 - Math.min(view.queued[i]!, LONGEST_QUEUE) / LONGEST_QUEUE);
      }
    },
  }),
};
