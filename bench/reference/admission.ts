import type { ClusterConfig, PolicyChoice } from '../../src/simulator/cluster-config.js';
import type { ReferenceRequest } from './request.js';
import { effectiveLoad, type RouterState, type Snapshot } from './snapshots.js';

const BUILT_IN_PRIORITIES: Record<string, number> = {
  critical: 4,
  standard: 3,
  batch: -1,
  sheddable: -2,
  background: -3,
};
const STANDARD_PRIORITY = 3;

export interface SloPriorities {
  /** Priority of a class; negative may be shed. */
  of(sloClass: string): number;
  /** How an instance ranks a priority: 0 is the most urgent. */
  urgency(priority: number): number;
}

export function sloPriorities(overrides: Record<string, number>): SloPriorities {
  const priorities = new Map(Object.entries({ ...BUILT_IN_PRIORITIES, ...overrides }));
  const highest = Math.max(STANDARD_PRIORITY, ...priorities.values());
  return {
    of: (sloClass) => priorities.get(sloClass) ?? STANDARD_PRIORITY,
    urgency: (priority) => highest - priority,
  };
}

export type Admits = (request: ReferenceRequest, state: RouterState) => boolean;

/** Mean over the instances of how near each is to its queue or memory limit; 1 and above is saturated. */
export function meanUtilization(candidates: readonly Snapshot[], queueLimit: number, kvLimit: number): number {
  if (candidates.length === 0) return 1;
  const sum = candidates.reduce((s, c) => s + Math.max(c.queueDepth / queueLimit, c.kvUtilization / kvLimit), 0);
  return sum / candidates.length;
}

function tokenBucket(capacity: number, refillRate: number): Admits {
  let tokens = capacity;
  let lastUs = 0;
  return (request, { clockUs }) => {
    const elapsedUs = clockUs - lastUs;
    if (elapsedUs > 0) {
      tokens = Math.min(capacity, tokens + (elapsedUs * refillRate) / 1e6);
      lastUs = clockUs;
    }
    if (tokens < request.prompt.length) return false;
    tokens -= request.prompt.length;
    return true;
  };
}

function tierShed(threshold: number, minPriority: number): Admits {
  return (request, { candidates }) =>
    Math.max(0, ...candidates.map(effectiveLoad)) <= threshold || request.sloPriority >= minPriority;
}

function gaieLegacy(queueLimit: number, kvLimit: number): Admits {
  return (request, { candidates }) => request.sloPriority >= 0 || meanUtilization(candidates, queueLimit, kvLimit) < 1;
}

function policyAdmits({ policy, options }: PolicyChoice): Admits {
  const option = (name: string, otherwise: number) => Number(options[name] ?? otherwise);
  switch (policy) {
    case 'always-admit':
      return () => true;
    case 'reject-all':
      return () => false;
    case 'token-bucket':
      return tokenBucket(option('capacity', 10_000), option('refill_rate', 1000));
    case 'tier-shed':
      return tierShed(option('threshold', 0), option('min_priority', 0));
    case 'gaie-legacy':
      return gaieLegacy(option('qd_threshold', 5), option('kv_threshold', 0.8));
    default:
      throw new Error(`the reference has no admission policy '${policy}'`);
  }
}

/** The admission policy, with the tenants' budgets before it. `tenantInFlight` is kept up to date by the caller. */
export function createAdmission(config: ClusterConfig, tenantInFlight: ReadonlyMap<string, number>): Admits {
  const seats = config.instances * config.replica.maxNumSeqs;
  const budgets = new Map(Object.entries(config.tenantBudgets));
  const admits = policyAdmits(config.admission);
  return (request, state) => {
    const share = budgets.get(request.tenant);
    const overBudget = share !== undefined && (tenantInFlight.get(request.tenant) ?? 0) > share * seats;
    if (overBudget && request.sloPriority < 0) return false;
    return admits(request, state);
  };
}
