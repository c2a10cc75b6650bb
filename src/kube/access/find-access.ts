import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { noKubeAccess } from '../errors.js';
import { inCluster } from './in-cluster.js';
import type { KubeAccess } from './kube-access.js';
import { readKubeconfig } from './kubeconfig.js';

export interface AccessChoice {
  /** Null: the service account of the pod, else KUBECONFIG, else the file in the home folder. */
  readonly kubeconfig: string | null;
  readonly context: string | null;
}

/** Finds the cluster in the order that Kubernetes' own clients use. */
export function findAccess({ context, kubeconfig }: AccessChoice, env: NodeJS.ProcessEnv = process.env): KubeAccess {
  if (kubeconfig !== null) return readKubeconfig(kubeconfig, context);
  const named = (env.KUBECONFIG ?? '').split(delimiter).find((file) => file !== '' && existsSync(file));
  if (named !== undefined) return readKubeconfig(named, context);
  const pod = context === null ? inCluster(env) : null;
  if (pod !== null) return pod;
  const file = env.KUBECONFIG || join(env.HOME ?? homedir(), '.kube', 'config');
  if (!existsSync(file)) throw noKubeAccess(file);
  return readKubeconfig(file, context);
}
