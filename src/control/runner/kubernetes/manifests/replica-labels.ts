import type { ReplicaSpec } from '../../contract.js';

export const MANAGER = 'twinyard';

/** A Cluster: its name for people, its UID against one of that name in another store. */
export interface OwnCluster {
  readonly cluster: string;
  readonly clusterUid?: string | undefined;
}

export const CLUSTER_UID_LABEL = 'twinyard/cluster-uid';
export const MANAGED_LABELS = { 'app.kubernetes.io/managed-by': MANAGER };

/** Selects the objects of one cluster: nothing else is changed or deleted. */
export const ownLabels = ({ cluster, clusterUid }: OwnCluster): Readonly<Record<string, string>> => ({
  ...MANAGED_LABELS,
  'twinyard/cluster': cluster,
  ...(clusterUid === undefined ? {} : { [CLUSTER_UID_LABEL]: clusterUid }),
});

export const selectorOf = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join();

/** Labels and annotations that only the control plane sets. */
export const isOwnName = (name: string) => name.startsWith('twinyard/');

/** Pods of an earlier replica with the same id are not taken for those of the next. */
export const START_LABEL = 'twinyard/start';
export const REPLICA_LABEL = 'twinyard/replica';
export const ENDPOINT_LABEL = 'twinyard/endpoint';
export const WORKSPACE_LABEL = 'twinyard/workspace';

/** The labels of the Deployment of a replica, of its Secret and of its pod. */
export function replicaLabels(
  { endpoint, engine, id, workspace }: Pick<ReplicaSpec, 'endpoint' | 'engine' | 'id' | 'workspace'>,
  own: OwnCluster,
  startedAt: number,
): Record<string, string> {
  return {
    ...ownLabels(own),
    'app.kubernetes.io/name': engine?.name ?? 'engine',
    'app.kubernetes.io/instance': id,
    'app.kubernetes.io/component': 'engine',
    'app.kubernetes.io/part-of': endpoint,
    [ENDPOINT_LABEL]: endpoint,
    [WORKSPACE_LABEL]: workspace,
    [REPLICA_LABEL]: id,
    [START_LABEL]: String(startedAt),
    ...(engine === undefined ? {} : { 'twinyard/engine': engine.name }),
    // A version may have a '+', which a label may not.
    ...(engine?.version ? { 'twinyard/version': engine.version.replaceAll(/[^\w.-]/g, '_') } : {}),
  };
}
