import { unknownEntry } from '../errors.js';
import type { PreemptionPolicy } from './contract.js';
import { lastAdmitted } from './fcfs.js';
import { leastUrgent } from './priority.js';

export const PREEMPTION_POLICIES: readonly PreemptionPolicy[] = [lastAdmitted, leastUrgent];

export function preemptionPolicy(name: string): PreemptionPolicy {
  const found = PREEMPTION_POLICIES.find((p) => p.name === name);
  if (found !== undefined) return found;
  throw unknownEntry(
    'REPLICA_UNKNOWN_PREEMPTION',
    '--preemption-policy',
    'preemption policy',
    name,
    PREEMPTION_POLICIES,
  );
}
