import type { ReplicaSpec } from '../../contract.js';
import type { KubernetesSettings } from '../../kubernetes-cluster.js';
import { endpointPatchesNotAllowed } from '../errors.js';
import type { RenderedDeployment } from './deployment.js';
import { patchedManifest } from './patched-manifest.js';
import { filledSecrets, renderedPod } from './rendered-pod.js';
import { REPLICA_LABEL, START_LABEL } from './replica-labels.js';
import { annotationsOf, type PodReplicaRecord, type ReplicaProgress } from './replica-record.js';

/**
 * The Deployment of a replica with the patches of its engine version and of its endpoint, and the port that it serves on. One for each
 * replica: the control plane chooses which replica ends, and when.
 */
export function renderedDeployment(
  spec: ReplicaSpec,
  settings: KubernetesSettings,
  { labels, namespace }: { readonly labels: Readonly<Record<string, string>>; readonly namespace: string },
): { readonly manifest: RenderedDeployment; readonly port: number } {
  const { podSpec, port } = renderedPod(spec, settings);
  const patches = spec.pod?.patches ?? [];
  const isRefused = !settings.allowsEndpointPatches && patches.some(({ by }) => by === 'endpoint');
  if (isRefused) throw endpointPatchesNotAllowed(spec.endpoint);
  const { [REPLICA_LABEL]: replica, [START_LABEL]: start } = labels;
  const manifest = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: spec.id, namespace, labels, annotations: {} },
    spec: {
      replicas: 1,
      revisionHistoryLimit: 0,
      // The default, 600 s, reports nothing that the startup time-out does not.
      progressDeadlineSeconds: 2 ** 31 - 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: { [REPLICA_LABEL]: replica, [START_LABEL]: start } },
      template: { metadata: { labels, annotations: {} }, spec: podSpec },
    },
  };
  return { manifest: patchedManifest(manifest, patches) as unknown as RenderedDeployment, port };
}

/** The manifest to apply now. With a UID it does not create again what has been deleted. */
export function deploymentManifest(
  record: PodReplicaRecord,
  progress: ReplicaProgress,
  { metadata, spec }: RenderedDeployment,
  uid?: string,
): object {
  const annotations = { ...metadata.annotations, ...annotationsOf(record, progress, { metadata, spec }) };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...metadata, ...(uid === undefined ? {} : { uid }), annotations },
    spec: { ...spec, replicas: progress.ending === null && progress.exit === null ? 1 : 0 },
  };
}

/** The Secret of a replica, deleted with its Deployment; null when it has no secrets. */
export function secretManifest(
  spec: ReplicaSpec,
  { metadata: { labels, namespace } }: RenderedDeployment,
  port: number,
  uid: string,
): object | null {
  const secrets = Object.entries(filledSecrets(spec, port));
  if (secrets.length === 0) return null;
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
    data: Object.fromEntries(secrets.map(([name, value]) => [name, Buffer.from(value).toString('base64')])),
  };
}
