import type { Scorer } from '../contract.js';
import { effectiveLoad } from '../fleet-view.js';

export const loadBalance: Scorer = {
  name: 'load-balance',
  summary: 'Falls with the effective load, steeply at first: an idle replica scores 1, one with a single request half.',
  reads: ['queued', 'running', 'inFlight'],
  formula: '1 / (1 + load), load = queued + running + inFlight',
  create: () => ({
    score(_request, view, scores) {
      for (let i = 0; i < view.size; i++) if (view.eligible[i] !== 0) scores[i] = 1 / (1 + effectiveLoad(view, i));
    },
  }),
};
