import { byKey } from './by-key.js';
import type { Scheduler } from './contract.js';

export const sjf: Scheduler = {
  name: 'sjf',
  summary: 'the shortest prompt first, then by arrival',
  order: (requests) => byKey(requests, (row) => requests.table.inputTokens[row]!),
};
