import { DEPLOYMENTS, KUBE_EVENTS, NODES, PODS, SECRETS } from '../../../kube/kube-kind.js';
import { type KubeUse, rulesFor } from '../../../kube/rights.js';

/** Every call of the runner in the namespace of its replicas: see `cluster-calls.ts` and the watches of `kubernetes-runner.ts`. */
const IN_NAMESPACE: readonly KubeUse[] = [
  { kind: DEPLOYMENTS, action: 'follow' },
  { kind: DEPLOYMENTS, action: 'get' },
  { kind: DEPLOYMENTS, action: 'apply' },
  { kind: DEPLOYMENTS, action: 'delete' },
  // Created with the replica, never read.
  { kind: SECRETS, action: 'apply' },
  { kind: PODS, action: 'follow' },
  { kind: PODS, action: 'delete' },
  { kind: PODS, part: 'log', action: 'get' },
  { kind: KUBE_EVENTS, action: 'follow' },
];

/** What the size of the cluster, and what of it is free, are read with. Without these rights they are not known. */
const IN_CLUSTER: readonly KubeUse[] = [
  { kind: NODES, action: 'list' },
  { kind: PODS, action: 'list' },
];

/** The least rights of the runner in its namespace. */
export const runnerRules = () => rulesFor(IN_NAMESPACE);

/** The least rights for `cluster-capacity.ts`, which no Role can give. */
export const capacityRules = () => rulesFor(IN_CLUSTER);
