import type { AdmissionPolicy } from '../contract.js';
import { NO_OPTIONS } from '../options.js';

export const alwaysAdmit: AdmissionPolicy = {
  name: 'always-admit',
  summary: 'Lets every request in.',
  goodFor: 'Finding out what a fleet does with all its traffic, and fleets that are never overloaded for long.',
  notFor: 'Lasting overload: queues then grow for as long as it lasts, and everybody waits.',
  formula: 'admit',
  options: NO_OPTIONS,
  admitsAll: true,
  reads: () => [],
  create: () => ({ refuse: () => null }),
};
