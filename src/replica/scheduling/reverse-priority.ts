import { byKey } from './by-key.js';
import type { Scheduler } from './contract.js';

export const reversePriority: Scheduler = {
  name: 'reverse-priority',
  summary: 'the least urgent SLO class first: for tests of bad schedulers',
  order: (requests) => byKey(requests, (row) => -requests.urgency(row)),
};
