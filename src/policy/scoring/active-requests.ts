import type { Scorer } from '../contract.js';

export const activeRequests: Scorer = {
  name: 'active-requests',
  summary: 'Prefers few requests in flight, measured against the busiest replica; an idle one always scores 1.',
  goodFor: 'Routers that cannot scrape their replicas: it needs nothing but their own counts, which are never old.',
  notFor: 'Telling long requests from short ones: every request in flight counts the same.',
  reads: ['inFlight'],
  formula: '(max - inFlight) / max; 1 when inFlight is 0',
  create: () => ({
    score(_request, view, scores) {
      let max = 0;
      for (let i = 0; i < view.size; i++) if (view.eligible[i] !== 0) max = Math.max(max, view.inFlight[i]!);
      for (let i = 0; i < view.size; i++) {
        if (view.eligible[i] === 0) continue;
        const active = view.inFlight[i]!;
        scores[i] = active === 0 ? 1 : (max - active) / max;
      }
    },
  }),
};
