import { field, number } from '../../schema/fields.js';
import type { AdmissionPolicy } from '../contract.js';
import { effectiveLoad } from '../fleet-view.js';

interface TierShedOptions {
  threshold: number;
  min_priority: number;
}

export const tierShed: AdmissionPolicy<TierShedOptions> = {
  name: 'tier-shed',
  summary: 'Refuses requests of low SLO priority while the busiest replica is above a threshold.',
  goodFor:
    'Keeping the latency of important classes when the fleet is busy, by shedding the less important ones first.',
  notFor:
    'Traffic of one class: either all of it is admitted or all of it is refused. One busy replica is enough to shed, so it needs a routing policy that balances.',
  formula:
    'admit when priority >= min_priority, or when max over replicas of (queued + running + inFlight) <= threshold',
  options: {
    threshold: field(number(0), {
      default: 0,
      help: 'effective load of the busiest replica up to which all requests are admitted',
      fileKey: 'tier_shed_threshold',
      search: { from: 4, to: 1024, log: true },
    }),
    min_priority: field(number(), {
      default: 0,
      help: 'SLO priority from which a request is admitted even above the threshold; 3 in a policy file that does not set it',
      fileKey: 'tier_shed_min_priority',
      // A file that names tier-shed protects the standard class as well.
      fileDefault: 3,
    }),
  },
  reads: () => ['queued', 'running', 'inFlight'],
  create: ({ threshold, min_priority }) => ({
    refuse(request, view) {
      if (request.priority >= min_priority) return null;
      for (let i = 0; i < view.size; i++) {
        if (view.eligible[i] !== 0 && effectiveLoad(view, i) > threshold) return 'tier shed under load';
      }
      return null;
    },
    shortfall(_, view) {
      let value = 0;
      for (let i = 0; i < view.size; i++) {
        if (view.eligible[i] !== 0) value = Math.max(value, effectiveLoad(view, i));
      }
      return { name: 'load of the busiest replica', value, needed: 'at most', bound: threshold };
    },
  }),
};
