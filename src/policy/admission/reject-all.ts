import type { AdmissionPolicy } from '../contract.js';
import { NO_OPTIONS } from '../options.js';

export const rejectAll: AdmissionPolicy = {
  name: 'reject-all',
  summary: 'Refuses every request, for tests.',
  goodFor: 'Tests: every request must be counted as rejected, and none may reach a replica.',
  notFor: 'Anything else.',
  formula: 'refuse',
  options: NO_OPTIONS,
  reads: () => [],
  create: () => ({ refuse: () => 'all requests are refused' }),
};
