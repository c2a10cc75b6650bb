import type { Scorer } from '../contract.js';
import { scoreByRange } from './score-by-range.js';

export const waitingQueue: Scorer = {
  name: 'waiting-queue',
  summary: 'Prefers the shortest queue inside the replica, whatever is running there already.',
  reads: ['queued'],
  formula: '(max - queued) / (max - min); 1 when all are equal',
  create: () => ({
    score: (_request, view, scores) => scoreByRange(view, view.queued, 'least', scores),
  }),
};
