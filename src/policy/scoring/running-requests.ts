import type { Scorer } from '../contract.js';
import { scoreByRange } from './score-by-range.js';

export const runningRequests: Scorer = {
  name: 'running-requests',
  summary: 'Prefers the smallest running batch, spread between the smallest and the largest.',
  goodFor: 'Keeping batches equally large, which keeps the gaps between tokens equally long.',
  notFor: 'Saturated fleets: batches are full everywhere, and the difference is in the queues.',
  reads: ['running'],
  formula: '(max - running) / (max - min); 1 when all are equal',
  create: () => ({
    score: (_request, view, scores) => scoreByRange(view, view.running, 'least', scores),
  }),
};
