import { readFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { packagePath } from '../../files/package-path.js';
import { shellWord } from '../../kernel/text/shell-word.js';

/** Workers as a job of another scheduler. */
export interface WorkerJobOptions {
  name: string;
  namespace: string | null;
  /** Null: the image of this version. */
  image: string | null;
  /** Null: from the secret or the environment of the nodes. */
  queue: string | null;
  secret: string | null;
  workers: number;
  cpus: number;
  sharedPath: string | null;
  untilIdleS: number;
}

function workerArguments({ cpus, sharedPath, untilIdleS }: WorkerJobOptions): string[] {
  const shared = sharedPath === null ? [] : ['--shared-path', sharedPath];
  return ['worker', '--threads', String(cpus), '--until-idle', String(untilIdleS), ...shared];
}

/**
 * A Kubernetes Job with an index for each worker. A worker that fails is started again without touching the others; what it was
 * computing is given to another by the queue.
 */
export function workersJob(options: WorkerJobOptions): string {
  const { cpus, name, namespace, queue, secret, sharedPath, workers } = options;
  const { version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as { version: string };
  const labels = { 'app.kubernetes.io/name': 'twinyard-worker', 'app.kubernetes.io/instance': name };
  const url = secret === null ? { value: queue } : { valueFrom: { secretKeyRef: { name: secret, key: 'url' } } };
  const mount =
    sharedPath === null ? {} : { volumeMounts: [{ name: 'shared', mountPath: sharedPath, readOnly: true }] };
  // A place to edit: which volume the cluster shares is not known here.
  const shared = { name: 'shared', persistentVolumeClaim: { claimName: 'twinyard-shared', readOnly: true } };
  const manifest = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, ...(namespace === null ? {} : { namespace }), labels },
    spec: {
      completionMode: 'Indexed',
      completions: workers,
      parallelism: workers,
      backoffLimitPerIndex: 3,
      ttlSecondsAfterFinished: 3600,
      template: {
        metadata: { labels },
        spec: {
          restartPolicy: 'Never',
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'worker',
              image: options.image ?? `twinyard:${version}`,
              args: workerArguments(options),
              env: [{ name: 'TWINYARD_QUEUE', ...url }],
              resources: { requests: { cpu: cpus, memory: `${cpus}Gi` }, limits: { memory: `${2 * cpus}Gi` } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
              ...mount,
              volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }, ...(mount.volumeMounts ?? [])],
            },
          ],
          volumes: [{ name: 'tmp', emptyDir: {} }, ...(sharedPath === null ? [] : [shared])],
        },
      },
    },
  };
  // Labels appear twice: anchors of YAML would only confuse.
  return stringify(manifest, { aliasDuplicateObjects: false });
}

/** Bodies of `POST /api/jobs/`, one line for each worker: Ray places each on a node with enough CPUs. */
export function rayWorkerJobs(options: WorkerJobOptions): string {
  const { cpus, name, queue, workers } = options;
  const entrypoint = ['twinyard', ...workerArguments(options)].map(shellWord).join(' ');
  const runtimeEnv = queue === null ? {} : { runtime_env: { env_vars: { TWINYARD_QUEUE: queue } } };
  return Array.from({ length: workers }, (_, i) => {
    const body = {
      entrypoint,
      submission_id: `${name}-${i}`,
      entrypoint_num_cpus: cpus,
      ...runtimeEnv,
      metadata: { app: 'twinyard-worker', index: String(i) },
    };
    return `${JSON.stringify(body)}\n`;
  }).join('');
}
