import { alwaysAdmit } from './admission/always-admit.js';
import { gaieLegacy } from './admission/gaie-legacy.js';
import { rejectAll } from './admission/reject-all.js';
import { tierShed } from './admission/tier-shed.js';
import { tokenBucket } from './admission/token-bucket.js';
import type { AdmissionPolicy, RoutingPolicy } from './contract.js';
import { findNamed } from './find-named.js';
import { alwaysBusiest } from './routing/always-busiest.js';
import { chwbl } from './routing/chwbl.js';
import { dynamoCost } from './routing/dynamo-cost.js';
import { kubeaiPrefixHash } from './routing/kubeai-prefix-hash.js';
import { leastLoaded } from './routing/least-loaded.js';
import { lmetric } from './routing/lmetric.js';
import { loadOnly } from './routing/load-only.js';
import { lpwl } from './routing/lpwl.js';
import { powerOfTwo } from './routing/power-of-two.js';
import { predictedLatency } from './routing/predicted-latency.js';
import { random } from './routing/random.js';
import { roundRobin } from './routing/round-robin.js';
import { sessionHash } from './routing/session-hash.js';
import { sglangCacheAware } from './routing/sglang-cache-aware.js';
import { staticHash } from './routing/static-hash.js';
import { sticky } from './routing/sticky.js';
import { stickyUntilSaturated } from './routing/sticky-until-saturated.js';
import { unified } from './routing/unified.js';
import { vllmLeast } from './routing/vllm-least.js';
import { weighted } from './routing/weighted.js';

/** Every routing policy: a new one is a file and a line here. Validation, docs and tests walk this list. */
export const ROUTING_POLICIES: readonly RoutingPolicy[] = [
  roundRobin,
  leastLoaded,
  weighted,
  lmetric,
  unified,
  sticky,
  loadOnly,
  chwbl,
  random,
  powerOfTwo,
  sessionHash,
  staticHash,
  lpwl,
  kubeaiPrefixHash,
  sglangCacheAware,
  vllmLeast,
  dynamoCost,
  stickyUntilSaturated,
  predictedLatency,
  alwaysBusiest,
];

/** Every admission policy, in the same way. */
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
