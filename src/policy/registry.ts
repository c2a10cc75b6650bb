import { alwaysAdmit } from './admission/always-admit.js';
import { gaieLegacy } from './admission/gaie-legacy.js';
import { rejectAll } from './admission/reject-all.js';
import { tierShed } from './admission/tier-shed.js';
import { tokenBucket } from './admission/token-bucket.js';
import type { AdmissionPolicy, RoutingPolicy } from './contract.js';
import { findNamed } from './find-named.js';
import { alwaysBusiest } from './routing/always-busiest.js';
import { leastLoaded } from './routing/least-loaded.js';
import { roundRobin } from './routing/round-robin.js';
import { weighted } from './routing/weighted.js';

/** Every routing policy there is: a new one is a file and a line here. Validation, docs and tests walk this list. */
export const ROUTING_POLICIES: readonly RoutingPolicy[] = [roundRobin, leastLoaded, weighted, alwaysBusiest];

/** Every admission policy there is. */
export const ADMISSION_POLICIES: readonly AdmissionPolicy[] = [
  alwaysAdmit,
  tokenBucket,
  tierShed,
  gaieLegacy,
  rejectAll,
];

export function routingPolicy(name: string, place = '--routing-policy'): RoutingPolicy {
  return findNamed('routing policy', ROUTING_POLICIES, name, place);
}

export function admissionPolicy(name: string, place = '--admission-policy'): AdmissionPolicy {
  return findNamed('admission policy', ADMISSION_POLICIES, name, place);
}
