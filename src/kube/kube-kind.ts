/** A kind of object in the API. */
export interface KubeKind {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export const PODS: KubeKind = { group: '', version: 'v1', resource: 'pods' };
export const SECRETS: KubeKind = { group: '', version: 'v1', resource: 'secrets' };
export const KUBE_EVENTS: KubeKind = { group: '', version: 'v1', resource: 'events' };
export const NODES: KubeKind = { group: '', version: 'v1', resource: 'nodes' };
export const DEPLOYMENTS: KubeKind = { group: 'apps', version: 'v1', resource: 'deployments' };
export const LEASES: KubeKind = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
export const ENDPOINT_SLICES: KubeKind = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' };
export const INFERENCE_POOLS: KubeKind = {
  group: 'inference.networking.k8s.io',
  version: 'v1',
  resource: 'inferencepools',
};

/** The path of all objects of a kind in a namespace; null: of the whole cluster. */
export function collectionPath({ group, resource, version }: KubeKind, namespace: string | null): string {
  const prefix = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return `${prefix}/${namespace === null ? '' : `namespaces/${namespace}/`}${resource}`;
}
