import { DEFAULT_POD, ENGINE_CONTAINER, ENGINE_PORT_NAME } from '../../../../engines/pod/default-pod.js';
import { filledPod } from '../../../../engines/pod/fill-pod.js';
import { isFields, mergedPod } from '../../../../engines/pod/merge-pod.js';
import type { ReplicaSpec } from '../../contract.js';
import { fillPlaceholders } from '../../fill-placeholders.js';
import type { KubernetesSettings } from '../../kubernetes-cluster.js';
import { imageOf, podResources } from './pod-resources.js';
import { ENDPOINT_LABEL, WORKSPACE_LABEL } from './replica-labels.js';

/** Pods have addresses of their own: engines listen on the same port, unless their template names another. */
const DEFAULT_PORT = 8000;
/** Port-forwarding reaches an engine only on loopback, probes and the gateway only on the address of the pod. */
const ALL_ADDRESSES = '0.0.0.0';
const MODELS_FOLDER = '/models';
const ENV = '{env...}';
const WORKING_FOLDER = '/var/lib/twinyard';
const DRAIN_MS = 30_000;
/** What an engine has before and after its requests are done: the pause of `preStop`, and its own end. */
const END_S = 33;
const PROBE_S = 2;
/** Probes beyond the startup time-out. */
const MORE_PROBES = 30;

/** A pod, and the port that its engine serves on. */
export interface RenderedPod {
  readonly podSpec: Readonly<Record<string, unknown>>;
  readonly port: number;
}

/**
 * The pod of a replica: the default pod with the settings of the cluster, merged with the template of the engine version. Everything
 * that is secret is a reference to its Secret.
 */
export function renderedPod(spec: ReplicaSpec, settings: KubernetesSettings): RenderedPod {
  const base = mergedPod(DEFAULT_POD, clusterParts(spec, settings));
  const template = withLastLines(mergedPod(base, spec.pod?.template ?? {}));
  const port = portOf(template);
  const { drainMs = DRAIN_MS, healthPath, id, images, secretEnv, startupTimeoutMs } = spec;
  const { args, env } = fillPlaceholders({ ...spec, secretEnv: {} }, placeholderValues(port));
  const podSpec = filledPod(template, {
    ...spec.pod?.values,
    image: imageOf(images, spec.resources.gpus, settings.gpuResource),
    program: unexpanded(spec.command),
    'args...': args.map(unexpanded),
    'env...': [
      ...Object.entries(env).map(([name, value]) => ({ name, value: unexpanded(value) })),
      ...Object.keys(secretEnv).map((key) => ({ name: key, valueFrom: { secretKeyRef: { name: id, key } } })),
    ],
    port,
    health_path: healthPath,
    working_folder: WORKING_FOLDER,
    startup_probes: Math.ceil(startupTimeoutMs / 1000 / PROBE_S) + MORE_PROBES,
    termination_s: Math.ceil(drainMs / 1000) + END_S,
    replica: id,
  });
  return { podSpec, port };
}

/** What the secrets of a replica are once its placeholders are filled in. */
export function filledSecrets(spec: ReplicaSpec, port: number): Readonly<Record<string, string>> {
  return fillPlaceholders({ args: [], env: {}, secretEnv: spec.secretEnv }, placeholderValues(port)).env;
}

const placeholderValues = (port: number) => ({ host: ALL_ADDRESSES, port, workingFolder: WORKING_FOLDER });

/** Kubernetes replaces `$(NAME)` in commands and values, which no other runner does. */
const unexpanded = (text: string) => text.replaceAll('$', '$$$$');

function clusterParts(spec: ReplicaSpec, settings: KubernetesSettings): Record<string, unknown> {
  const { limits, nodeSelector, requests } = podResources(spec.resources, settings);
  const { imagePullSecrets, modelCache, runAsUser, serviceAccount, tolerations } = settings;
  const cache = {
    volumeMounts: [{ name: 'models', mountPath: MODELS_FOLDER }],
    // Before the endpoint's own: the last one counts.
    env: [{ name: 'HF_HOME', value: MODELS_FOLDER }, ENV],
  };
  return {
    ...(serviceAccount === null ? {} : { serviceAccountName: serviceAccount }),
    ...(imagePullSecrets.length === 0 ? {} : { imagePullSecrets: imagePullSecrets.map((name) => ({ name })) }),
    ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
    ...(tolerations.length === 0 ? {} : { tolerations }),
    ...(runAsUser === null
      ? {}
      : { securityContext: { runAsNonRoot: true, runAsUser, fsGroup: runAsUser, runAsGroup: runAsUser } }),
    affinity: { podAntiAffinity: apart(spec) },
    containers: [{ name: ENGINE_CONTAINER, resources: { requests, limits }, ...(modelCache === null ? {} : cache) }],
    ...(modelCache === null ? {} : { volumes: [{ name: 'models', persistentVolumeClaim: { claimName: modelCache } }] }),
  };
}

/** Replicas of an endpoint prefer different nodes: a lost one takes few of them. */
function apart({ endpoint, workspace }: ReplicaSpec): object {
  const matchLabels = { [WORKSPACE_LABEL]: workspace, [ENDPOINT_LABEL]: endpoint };
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels } };
  return { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 50, podAffinityTerm: term }] };
}

/** The status of a container that fails has the end of its log, also where the template does not say so. */
function withLastLines(pod: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!Array.isArray(pod.initContainers)) return pod;
  const policy = { terminationMessagePolicy: 'FallbackToLogsOnError' };
  return { ...pod, initContainers: pod.initContainers.map((one: object) => ({ ...policy, ...one })) };
}

/** The port called `http` of the engine's container. */
function portOf({ containers }: Readonly<Record<string, unknown>>): number {
  const engine = itemNamed(containers, ENGINE_CONTAINER);
  const port = itemNamed(engine?.ports, ENGINE_PORT_NAME)?.containerPort;
  return typeof port === 'number' ? port : DEFAULT_PORT;
}

const itemNamed = (list: unknown, name: string) =>
  Array.isArray(list) ? list.filter(isFields).find((one) => one.name === name) : undefined;
