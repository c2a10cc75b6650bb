import type { Scorer } from '../contract.js';
import { scoreByRange } from './score-by-range.js';

export const waitingQueue: Scorer = {
  name: 'waiting-queue',
  summary: 'Prefers the shortest queue inside the replica, regardless of its running batch.',
  goodFor: 'Avoiding replicas where new requests wait for a seat in the batch.',
  notFor: 'Fleets that are not saturated: no request waits anywhere, and all replicas look the same.',
  reads: ['queued'],
  formula: '(max - queued) / (max - min); 1 when all are equal',
  create: () => ({
    score: (_request, view, scores) => scoreByRange(view, view.queued, 'least', scores),
  }),
};
