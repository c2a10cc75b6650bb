import type { Scorer } from '../contract.js';
import { effectiveLoad } from '../fleet-view.js';
import { scoreByRange } from './score-by-range.js';

export const queueDepth: Scorer = {
  name: 'queue-depth',
  summary:
    'Prefers the least effective load (queued + running + in flight), spread between the least and the greatest.',
  goodFor:
    'Balancing in general: it always separates the least loaded replica from the most loaded one, however busy both are.',
  notFor: 'Telling a large difference in load from a small one: the extremes get 0 and 1 either way.',
  reads: ['queued', 'running', 'inFlight'],
  formula: '(max - load) / (max - min), load = queued + running + inFlight; 1 when all are equal',
  create({ replicas }) {
    const loads = new Int32Array(replicas);
    return {
      score(_request, view, scores) {
        for (let i = 0; i < view.size; i++) loads[i] = effectiveLoad(view, i);
        scoreByRange(view, loads, 'least', scores);
      },
    };
  },
};
