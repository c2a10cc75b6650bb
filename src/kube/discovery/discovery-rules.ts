import { ENDPOINT_SLICES, INFERENCE_POOLS, type KubeKind, PODS } from '../kube-kind.js';
import { type RoleRule, rulesFor } from '../rights.js';
import type { KubeTarget } from './kube-target.js';

/** Every kind that following a target lists and watches: nothing else is called. */
const FOLLOWED_KINDS: Readonly<Record<KubeTarget['by'], readonly KubeKind[]>> = {
  selector: [PODS],
  service: [ENDPOINT_SLICES],
  pool: [INFERENCE_POOLS, PODS],
};

/** The least rights that following these targets needs, from the calls that it makes. */
export const discoveryRules = (by: readonly KubeTarget['by'][]): RoleRule[] =>
  rulesFor(by.flatMap((one) => FOLLOWED_KINDS[one].map((kind) => ({ kind, action: 'follow' }))));
