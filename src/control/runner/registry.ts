import { kubernetesType } from './kubernetes/kubernetes-type.js';
import { localType } from './local/local-type.js';
import { rayType } from './ray/ray-type.js';
import type { RunnerType } from './runner-type.js';

/** Every way to run replicas: a new one is a folder beside this file and a line here. */
export const RUNNER_TYPES: readonly RunnerType[] = [localType, kubernetesType, rayType];

/** The cluster of endpoints that name none. */
export const DEFAULT_CLUSTER = localType.builtInCluster;

export const isBuiltInCluster = (name: string) => RUNNER_TYPES.some(({ builtInCluster }) => builtInCluster === name);
