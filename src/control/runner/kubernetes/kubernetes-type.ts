import type { RunnerOptions, RunnerType } from '../runner-type.js';
import { isElsewhere } from './kubernetes-settings.js';

export const kubernetesType = {
  name: 'kubernetes',
  summary: 'pods of a Kubernetes cluster',
  builtInCluster: null,
  runsHere: false,
  runsPods: true,
  isElsewhere,
  async open({ cluster, clusterUid, mayAct, onFault, scrub, settings }: RunnerOptions) {
    const { KubernetesRunner } = await import('./kubernetes-runner.js');
    return KubernetesRunner.open({ cluster, clusterUid, settings, scrub, onFault, mayAct });
  },
} as const satisfies RunnerType;
