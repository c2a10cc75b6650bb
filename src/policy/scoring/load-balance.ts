import type { Scorer } from '../contract.js';
import { effectiveLoad } from '../fleet-view.js';

export const loadBalance: Scorer = {
  name: 'load-balance',
  summary: 'Falls with the effective load, steeply at first: an idle replica scores 1, one with a single request 0.5.',
  goodFor: 'Small fleets under light load, where the step from idle to one request matters most.',
  notFor: 'Heavy load: the score is nearly 0 everywhere and differences vanish in the sum.',
  reads: ['queued', 'running', 'inFlight'],
  formula: '1 / (1 + load), load = queued + running + inFlight',
  create: () => ({
    score(_request, view, scores) {
      for (let i = 0; i < view.size; i++) if (view.eligible[i] !== 0) scores[i] = 1 / (1 + effectiveLoad(view, i));
    },
  }),
};
