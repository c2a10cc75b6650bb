import type { ClusterSettings } from '../contract.js';
import type { KubernetesSettings } from '../kubernetes-cluster.js';

const DEFAULTS: KubernetesSettings = {
  kubeconfig: null,
  context: null,
  namespace: null,
  gpuResource: 'nvidia.com/gpu',
  sharedGpuResource: null,
  imagePullSecrets: [],
  nodeSelector: {},
  tolerations: [],
  serviceAccount: null,
  modelCache: null,
  addsNodes: false,
  allowsEndpointPatches: false,
  runAsUser: null,
};

export const kubernetesSettings = ({ kubernetes = {} }: ClusterSettings): KubernetesSettings => ({
  ...DEFAULTS,
  ...kubernetes,
});

/** Whether replicas would be looked for elsewhere. */
export function isElsewhere(before: ClusterSettings, after: ClusterSettings): boolean {
  const [one, other] = [kubernetesSettings(before), kubernetesSettings(after)];
  return (['kubeconfig', 'context', 'namespace'] as const).some((key) => one[key] !== other[key]);
}
