import type { Scorer } from '../contract.js';

export const kvUtilization: Scorer = {
  name: 'kv-utilization',
  summary: 'Prefers replicas with the most free KV cache memory.',
  goodFor: 'Long contexts, where memory runs out before batch seats and preemptions have to be avoided.',
  notFor:
    'Deciding alone, above all with old signals: memory use follows load late and varies little between replicas.',
  reads: ['kvUsed'],
  formula: '1 - kvUsed',
  create: () => ({
    score(_request, view, scores) {
      for (let i = 0; i < view.size; i++) if (view.eligible[i] !== 0) scores[i] = 1 - view.kvUsed[i]!;
    },
  }),
};
