import { readProblem } from '../files/file-problem.js';
import { InputError, RunError } from '../kernel/errors.js';

/** Errors of the Kubernetes client. Codes are stable and start with KUBE_. */

/** A response of the API server that is no success. */
export class KubeStatusError extends RunError {
  constructor(
    readonly status: number,
    /** In one word, as the API server gives it: `NotFound`, `Conflict`, `Expired`. */
    readonly reason: string,
    message: string,
    /** Seconds after which the API server wants to be asked again; null when it does not say. */
    readonly retryAfterS: number | null = null,
  ) {
    super('KUBE_STATUS', message);
  }
}

export const notReached = (server: string, problem: string) =>
  new RunError('KUBE_NOT_REACHED', `${server}: the Kubernetes API cannot be reached (${problem})`);

export const missingApi = (api: string) => `the cluster does not have ${api}: install its custom resource definition`;

export const badKubeconfig = (file: string, problem: string, hint = 'see kubectl config view') =>
  new InputError('KUBE_CONFIG', file, problem, hint);

export const unreadableKubeconfig = (file: string, error: unknown) =>
  new InputError('KUBE_FILE', file, readProblem(error), 'give another with kubeconfig=FILE, or set KUBECONFIG');

export const unreadableKubeFile = (file: string, error: unknown) =>
  new InputError('KUBE_FILE', file, readProblem(error), 'check the path in the kubeconfig');

export const noKubeAccess = (file: string) =>
  new InputError(
    'KUBE_NO_ACCESS',
    file,
    'does not exist, and this process runs in no pod',
    'give a kubeconfig with KUBECONFIG or kubeconfig=FILE, or run it in the cluster',
  );

export const pluginFailed = (command: string, problem: string) =>
  new RunError('KUBE_PLUGIN', `${command}: the credential plugin failed (${problem})`);

export const badKubeTarget = (text: string, problem: string) =>
  new InputError(
    'KUBE_TARGET',
    `--kube ${text}`,
    problem,
    'give selector=app=NAME, service=NAME or pool=NAME, then namespace=NAME, port=NUMBER or a name, and kubeconfig=FILE',
  );

export const badLeaseName = (place: string, problem: string) =>
  new InputError(
    'KUBE_LEASE',
    place,
    problem,
    'give NAMESPACE/NAME, then kubeconfig=FILE and context=NAME where it is not the cluster of the pod',
  );

export const leaseNotRenewed = (lease: string, seconds: number, problem: string) =>
  `Lease ${lease} was not renewed for ${seconds} seconds: reconciliation stopped, existing routes are still served (${problem})`;

export const leaseNotUsable = (lease: string, problem: string) =>
  `Lease ${lease}: this process cannot lead (${problem})`;

export const leaseNotReleased = (lease: string, seconds: number, problem: string) =>
  `Lease ${lease} was not released: another process takes over in ${seconds} seconds (${problem})`;
