import type { Scorer } from '../contract.js';
import { scoreByRange } from './score-by-range.js';

/** A waiting request delays a new one more than a running request, which shares its steps. */
const QUEUED_WEIGHT = 4;

export const vllmDp: Scorer = {
  name: 'vllm-dp',
  summary: "Ranks as vLLM's data-parallel balancer does: a waiting request weighs as much as four running ones.",
  goodFor: 'Comparing with an engine that balances its data-parallel ranks by this rule.',
  notFor:
    'Old signals: it does not count what was sent since the last report, so all requests until the next report go to one replica.',
  reads: ['queued', 'running'],
  formula: '(max - x) / (max - min), x = 4 * queued + running; 1 when all are equal',
  create({ replicas }) {
    const loads = new Int32Array(replicas);
    return {
      score(_request, view, scores) {
        for (let i = 0; i < view.size; i++) loads[i] = QUEUED_WEIGHT * view.queued[i]! + view.running[i]!;
        scoreByRange(view, loads, 'least', scores);
      },
    };
  },
};
