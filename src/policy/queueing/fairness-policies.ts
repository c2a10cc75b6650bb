import { findNamed } from '../find-named.js';

/** Which tenant of a band is served next. */
export interface FairnessPolicy {
  name: string;
  summary: string;
  tenant: 'of-oldest-request' | 'next-in-turn';
}

export const FAIRNESS_POLICIES: readonly FairnessPolicy[] = [
  {
    name: 'global-strict',
    summary: 'Ignores tenants: the oldest request goes first.',
    tenant: 'of-oldest-request',
  },
  {
    name: 'round-robin',
    summary: 'Tenants take turns in order of their names, so a tenant with many requests does not delay the others.',
    tenant: 'next-in-turn',
  },
];

export function fairnessPolicy(name: string, place = '--fairness-policy'): FairnessPolicy {
  return findNamed('fairness policy', FAIRNESS_POLICIES, name, place);
}
