import type { KubernetesSettings, ReplicaSpec } from '../../contract.js';
import { fillPlaceholders } from '../../fill-placeholders.js';
import { ENGINE_CONTAINER } from './deployment.js';
import { imageOf, podResources } from './pod-resources.js';
import { ENDPOINT_LABEL, REPLICA_LABEL, START_LABEL, WORKSPACE_LABEL } from './replica-labels.js';
import { annotationsOf, type PodReplicaRecord, type ReplicaProgress } from './replica-record.js';

/** Pods have addresses of their own: all engines listen on the same port. */
export const ENGINE_PORT = 8000;
/** Port-forwarding reaches an engine only on loopback, probes and the gateway only on the address of the pod. */
const ALL_ADDRESSES = '0.0.0.0';
const WORKING_FOLDER = '/var/lib/twinyard';
/** Before SIGTERM: where others end a pod, gateways first see that it is going. */
const PRE_STOP_S = 3;
const DRAIN_MS = 30_000;
/** What an engine has after its requests are done. */
const END_S = 30;
const PROBE_S = 2;

/** The pod of a replica. Everything that is secret is a reference to its Secret. */
export function podSpec(spec: ReplicaSpec, settings: KubernetesSettings): object {
  const { requests, limits, nodeSelector } = podResources(spec.resources, settings);
  const { drainMs = DRAIN_MS, healthPath, id, images, secretEnv, startupTimeoutMs } = spec;
  const { args, env } = filled({ ...spec, secretEnv: {} });
  const probe = { httpGet: { path: healthPath, port: 'http' }, periodSeconds: PROBE_S, timeoutSeconds: PROBE_S };
  const { imagePullSecrets, runAsUser, serviceAccount, tolerations } = settings;
  return {
    // Engines do not call the API server.
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: Math.ceil(drainMs / 1000) + END_S + PRE_STOP_S,
    ...(serviceAccount === null ? {} : { serviceAccountName: serviceAccount }),
    ...(imagePullSecrets.length === 0 ? {} : { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }),
    ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
    ...(tolerations.length === 0 ? {} : { tolerations }),
    ...(runAsUser === null
      ? {}
      : { securityContext: { runAsNonRoot: true, runAsUser, fsGroup: runAsUser, runAsGroup: runAsUser } }),
    affinity: { podAntiAffinity: apart(spec) },
    containers: [
      {
        name: ENGINE_CONTAINER,
        image: imageOf(images, spec.resources.gpus, settings.gpuResource),
        command: [unexpanded(spec.command)],
        args: args.map(unexpanded),
        env: [
          ...Object.entries(env).map(([name, value]) => ({ name, value: unexpanded(value) })),
          ...Object.keys(secretEnv).map((key) => ({ name: key, valueFrom: { secretKeyRef: { name: id, key } } })),
        ],
        ports: [{ name: 'http', containerPort: ENGINE_PORT, protocol: 'TCP' }],
        resources: { requests, limits },
        securityContext: { allowPrivilegeEscalation: false },
        // The control plane ends it in time: the probe only keeps readiness from being checked, and never ends it first.
        startupProbe: { ...probe, failureThreshold: Math.ceil(startupTimeoutMs / 1000 / PROBE_S) + 30 },
        readinessProbe: { ...probe, failureThreshold: 3 },
        lifecycle: { preStop: { sleep: { seconds: PRE_STOP_S } } },
        terminationMessagePolicy: 'FallbackToLogsOnError',
        volumeMounts: [
          { name: 'shm', mountPath: '/dev/shm' },
          { name: 'work', mountPath: WORKING_FOLDER },
        ],
      },
    ],
    volumes: [
      // NCCL exchanges between GPUs through it; the default of 64 MiB is too little.
      { name: 'shm', emptyDir: { medium: 'Memory' } },
      { name: 'work', emptyDir: {} },
    ],
  };
}

/** The Deployment of a replica. One for each: the control plane chooses which replica ends, and when. */
export function deploymentManifest(
  record: PodReplicaRecord,
  progress: ReplicaProgress,
  { labels, namespace, podSpec }: DeploymentParts,
  uid?: string,
): object {
  const annotations = annotationsOf(record, progress, podSpec);
  // With a UID an apply does not create again what has been deleted.
  const metadata = { name: record.id, namespace, ...(uid === undefined ? {} : { uid }), labels, annotations };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      replicas: progress.ending === null && progress.exit === null ? 1 : 0,
      revisionHistoryLimit: 0,
      // The default, 600 s, reports nothing that the startup time-out does not.
      progressDeadlineSeconds: 2 ** 31 - 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: { [REPLICA_LABEL]: record.id, [START_LABEL]: String(record.startedAt) } },
      template: { metadata: { labels }, spec: podSpec },
    },
  };
}

export interface DeploymentParts {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly podSpec: object;
}

/** The Secret of a replica, deleted with its Deployment; null when it has no secrets. */
export function secretManifest(spec: ReplicaSpec, { labels, namespace }: DeploymentParts, uid: string): object | null {
  const names = Object.keys(spec.secretEnv);
  if (names.length === 0) return null;
  const { env } = filled(spec);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: spec.id,
      namespace,
      labels,
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: spec.id, uid }],
    },
    type: 'Opaque',
    data: Object.fromEntries(names.map((name) => [name, Buffer.from(env[name]!).toString('base64')])),
  };
}

const filled = (spec: ReplicaSpec) =>
  fillPlaceholders(spec, { host: ALL_ADDRESSES, port: ENGINE_PORT, workingFolder: WORKING_FOLDER });

/** Kubernetes replaces `$(NAME)` in commands and values, which no other runner does. */
const unexpanded = (text: string) => text.replaceAll('$', '$$$$');

/** Replicas of an endpoint prefer different nodes: a lost one takes few of them. */
function apart({ endpoint, workspace }: ReplicaSpec): object {
  const matchLabels = { [WORKSPACE_LABEL]: workspace, [ENDPOINT_LABEL]: endpoint };
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels } };
  return { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 50, podAffinityTerm: term }] };
}
