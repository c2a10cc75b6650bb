import { z } from 'zod';
import type { AdmissionPolicy } from '../contract.js';

const options = z.strictObject({});

export const rejectAll: AdmissionPolicy<z.infer<typeof options>> = {
  name: 'reject-all',
  summary: 'Refuses every request: shows that refusals are counted everywhere, for tests.',
  goodFor: 'Tests: every request must show up as rejected, and none on a replica.',
  notFor: 'Anything else.',
  formula: 'refuse',
  options,
  reads: () => [],
  create: () => ({ refuse: () => 'all requests are refused' }),
};
