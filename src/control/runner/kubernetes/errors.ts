import { InputError, RunError } from '../../../kernel/errors.js';

/** Errors of the Kubernetes runner. Codes are stable and start with RUNNER_. */

export const noSharedGpus = (gpus: number) =>
  new InputError(
    'RUNNER_GPUS',
    'gpus',
    `${gpus} of a GPU cannot be requested: the cluster names no resource for shared GPUs`,
    "set 'shared_gpu_resource' of the Cluster, or give a whole number",
  );

export const noImage = (accelerator: string, given: readonly string[]) =>
  new InputError(
    'RUNNER_IMAGE',
    'images',
    `the engine version has no image for '${accelerator}'${given.length === 0 ? '' : ` (it has ${given.join(', ')})`}`,
    "add it to 'images' of the Engine, or change the GPUs of the endpoint",
  );

export const badManifestPatch = (place: string, problem: string) =>
  new InputError(
    'RUNNER_PATCH',
    place,
    problem,
    "change 'json_patches'; the manifest is that of 'kubectl get -o yaml'",
  );

export const endpointPatchesNotAllowed = (endpoint: string) =>
  new InputError(
    'RUNNER_PATCH',
    `endpoint '${endpoint}' (json_patches)`,
    'the cluster allows no patches of endpoints',
    "leave it out, or set 'kubernetes.json_patches' of the Cluster",
  );

export const foreignDeployment = (id: string, namespace: string) =>
  new RunError(
    'RUNNER_NOT_STARTED',
    `replica '${id}': a Deployment of that name in namespace '${namespace}' belongs to another program`,
  );

export const otherReplicas = (namespace: string, selector: string) =>
  `namespace '${namespace}' has replicas of another Cluster or control plane, which are left alone: ` +
  `kubectl get deployments -n ${namespace} -l '${selector}'`;

export const podRemains = (id: string) =>
  new RunError(
    'RUNNER_WILL_NOT_END',
    `replica '${id}': its pod is still there after its grace time; its node may be lost`,
  );
