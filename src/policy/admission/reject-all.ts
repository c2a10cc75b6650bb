import type { AdmissionPolicy } from '../contract.js';
import { NO_OPTIONS } from '../options.js';

export const rejectAll: AdmissionPolicy = {
  name: 'reject-all',
  summary: 'Refuses every request: shows that refusals are counted everywhere, for tests.',
  goodFor: 'Tests: every request must show up as rejected, and none on a replica.',
  notFor: 'Anything else.',
  formula: 'refuse',
  options: NO_OPTIONS,
  reads: () => [],
  create: () => ({ refuse: () => 'all requests are refused' }),
};
