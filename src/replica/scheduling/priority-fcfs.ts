import { byKey } from './by-key.js';
import type { Scheduler } from './contract.js';

export const priorityFcfs: Scheduler = {
  name: 'priority-fcfs',
  summary: 'the most urgent SLO class first, then by arrival',
  order: (requests) => byKey(requests, requests.urgency),
};
