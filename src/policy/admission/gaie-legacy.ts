import { z } from 'zod';
import type { AdmissionPolicy } from '../contract.js';
import { meanUtilization } from '../queueing/saturation.js';
import { isSheddable } from '../slo-classes.js';

const options = z.strictObject({
  qd_threshold: z.number().positive().default(5).describe('queued requests at which a replica counts as full'),
  kv_threshold: z
    .number()
    .positive()
    .default(0.8)
    .describe('share of KV blocks in use at which a replica counts as full'),
});

/** The rule of the Gateway API Inference Extension before it had flow control. */
export const gaieLegacy: AdmissionPolicy<z.infer<typeof options>> = {
  name: 'gaie-legacy',
  summary: 'Refuses sheddable requests while queues or KV memory are full on average over the fleet.',
  options,
  reads: () => ['queued', 'kvUsed'],
  create: ({ qd_threshold, kv_threshold }) => ({
    refuse(request, view) {
      if (!isSheddable(request.priority)) return null;
      return meanUtilization(view, qd_threshold, kv_threshold) >= 1 ? 'fleet is saturated' : null;
    },
  }),
};
