import { z } from 'zod';
import type { AdmissionPolicy } from '../contract.js';

const options = z.strictObject({});

export const alwaysAdmit: AdmissionPolicy<z.infer<typeof options>> = {
  name: 'always-admit',
  summary: 'Lets every request in.',
  options,
  reads: () => [],
  create: () => ({ refuse: () => null }),
};
