import type { Scorer } from '../contract.js';
import { scoreByRange } from './score-by-range.js';

export const runningRequests: Scorer = {
  name: 'running-requests',
  summary: 'Prefers the smallest running batch, spread between the smallest and the largest.',
  reads: ['running'],
  formula: '(max - running) / (max - min); 1 when all are equal',
  create: () => ({
    score: (_request, view, scores) => scoreByRange(view, view.running, 'least', scores),
  }),
};
