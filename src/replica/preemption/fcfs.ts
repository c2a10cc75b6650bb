import type { PreemptionPolicy } from './contract.js';

export const lastAdmitted: PreemptionPolicy = {
  name: 'fcfs',
  summary: 'the request that was admitted last',
  takesLast: true,
  victim: (batch) => batch.size - 1,
};
