import { z } from 'zod';
import type { AdmissionPolicy } from '../contract.js';
import { effectiveLoad } from '../fleet-view.js';

const options = z.strictObject({
  threshold: z.number().min(0).default(0).describe('effective load of the busiest replica up to which all may enter'),
  min_priority: z
    .number()
    .default(0)
    .describe(
      'SLO priority from which a request enters even above the threshold; a policy file that names tier-shed without it means 3',
    ),
});

export const tierShed: AdmissionPolicy<z.infer<typeof options>> = {
  name: 'tier-shed',
  summary: 'Refuses requests of low SLO priority while the busiest replica is above a threshold.',
  goodFor: 'Keeping the latency of important classes when the fleet is busy, by giving up the unimportant ones first.',
  notFor:
    'Traffic of one class: then either all of it passes or all of it is refused. One busy replica is enough to shed, so it needs a routing policy that balances.',
  formula:
    'admit when priority >= min_priority, or when max over replicas of (queued + running + inFlight) <= threshold',
  options,
  reads: () => ['queued', 'running', 'inFlight'],
  create: ({ threshold, min_priority }) => ({
    refuse(request, view) {
      if (request.priority >= min_priority) return null;
      for (let i = 0; i < view.size; i++) {
        if (view.eligible[i] !== 0 && effectiveLoad(view, i) > threshold) return 'tier shed under load';
      }
      return null;
    },
  }),
};
