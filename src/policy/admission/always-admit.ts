import type { AdmissionPolicy } from '../contract.js';
import { NO_OPTIONS } from '../options.js';

export const alwaysAdmit: AdmissionPolicy = {
  name: 'always-admit',
  summary: 'Admits every request.',
  goodFor: 'Measuring what a fleet does with all its traffic, and fleets that are never overloaded for long.',
  notFor: 'Lasting overload: queues grow for as long as it lasts, and every request waits.',
  formula: 'admit',
  options: NO_OPTIONS,
  admitsAll: true,
  reads: () => [],
  create: () => ({ refuse: () => null }),
};
