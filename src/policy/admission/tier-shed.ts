import type { AdmissionPolicy } from '../contract.js';
import { effectiveLoad } from '../fleet-view.js';
import { numberOption } from '../options.js';

interface TierShedOptions {
  threshold: number;
  min_priority: number;
}

export const tierShed: AdmissionPolicy<TierShedOptions> = {
  name: 'tier-shed',
  summary: 'Refuses requests of low SLO priority while the busiest replica is above a threshold.',
  goodFor: 'Keeping the latency of important classes when the fleet is busy, by giving up the unimportant ones first.',
  notFor:
    'Traffic of one class: then either all of it passes or all of it is refused. One busy replica is enough to shed, so it needs a routing policy that balances.',
  formula:
    'admit when priority >= min_priority, or when max over replicas of (queued + running + inFlight) <= threshold',
  options: {
    threshold: numberOption({
      default: 0,
      from: 0,
      help: 'effective load of the busiest replica up to which all may enter',
    }),
    min_priority: numberOption({
      default: 0,
      help: 'SLO priority from which a request enters even above the threshold; a policy file that names tier-shed without it means 3',
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
  }),
};
