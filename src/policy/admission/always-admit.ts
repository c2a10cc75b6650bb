import { z } from 'zod';
import type { AdmissionPolicy } from '../contract.js';

const options = z.strictObject({});

export const alwaysAdmit: AdmissionPolicy<z.infer<typeof options>> = {
  name: 'always-admit',
  summary: 'Lets every request in.',
  goodFor: 'Finding out what a fleet does with all its traffic, and fleets that are never overloaded for long.',
  notFor: 'Lasting overload: queues then grow for as long as it lasts, and everybody waits.',
  formula: 'admit',
  options,
  reads: () => [],
  create: () => ({ refuse: () => null }),
};
