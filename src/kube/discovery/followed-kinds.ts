import type { KubeTarget } from './kube-target.js';

/** A kind of object that is listed and watched. */
export interface FollowedKind {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export const PODS: FollowedKind = { group: '', version: 'v1', resource: 'pods' };
export const ENDPOINT_SLICES: FollowedKind = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' };
export const INFERENCE_POOLS: FollowedKind = {
  group: 'inference.networking.k8s.io',
  version: 'v1',
  resource: 'inferencepools',
};

/** Every kind that following a target lists and watches: nothing else is called. */
export const FOLLOWED_KINDS: Readonly<Record<KubeTarget['by'], readonly FollowedKind[]>> = {
  selector: [PODS],
  service: [ENDPOINT_SLICES],
  pool: [INFERENCE_POOLS, PODS],
};

/** The path of all objects of a kind in a namespace. */
export function collectionPath({ group, resource, version }: FollowedKind, namespace: string): string {
  const prefix = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return `${prefix}/namespaces/${namespace}/${resource}`;
}
