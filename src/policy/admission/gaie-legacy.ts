import { above, field } from '../../schema/fields.js';
import type { AdmissionPolicy } from '../contract.js';
import { meanUtilization } from '../queueing/saturation.js';
import { isSheddable } from '../slo-classes.js';

interface GaieLegacyOptions {
  qd_threshold: number;
  kv_threshold: number;
}

/** The rule of the Gateway API Inference Extension before it had flow control. */
export const gaieLegacy: AdmissionPolicy<GaieLegacyOptions> = {
  name: 'gaie-legacy',
  summary: 'Refuses sheddable requests while queues or KV memory are full on average over the fleet.',
  goodFor:
    'Comparing with a Gateway API Inference Extension installation without flow control, and shedding by memory as well as by queues.',
  notFor:
    'Fleets with one hot replica: the mean hides it. Classes of priority 0 and above are always admitted, regardless of load.',
  formula:
    'admit when priority >= 0, or when mean over replicas of max(queued / qd_threshold, kvUsed / kv_threshold) < 1',
  options: {
    qd_threshold: field(above(0), {
      default: 5,
      help: 'queued requests at which a replica counts as full',
      fileKey: 'gaie_qd_threshold',
      search: { from: 1, to: 64, log: true },
    }),
    kv_threshold: field(above(0), {
      default: 0.8,
      help: 'share of KV blocks in use at which a replica counts as full',
      fileKey: 'gaie_kv_threshold',
      search: { from: 0.4, to: 1 },
    }),
  },
  reads: () => ['queued', 'kvUsed'],
  create: ({ qd_threshold, kv_threshold }) => ({
    refuse(request, view) {
      if (!isSheddable(request.priority)) return null;
      return meanUtilization(view, qd_threshold, kv_threshold) >= 1 ? 'fleet is saturated' : null;
    },
    shortfall: (_, view) => ({
      name: 'mean utilization of the fleet',
      value: meanUtilization(view, qd_threshold, kv_threshold),
      needed: 'below',
      bound: 1,
    }),
  }),
};
