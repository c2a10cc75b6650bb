import { InputError } from '../../../kernel/errors.js';
import type { ResourceRef } from '../../../store/resources/resource-record.js';
import { type ClusterSpec, portRange } from '../../resources/kinds/cluster.js';
import { memoryBytes } from '../../resources/parts.js';
import type { ClusterRunners } from '../../runner/cluster-runners.js';
import type {
  ClusterCapacity,
  ClusterSettings,
  Gpu,
  NodeCapacity,
  RaySettings,
  Runner,
} from '../../runner/contract.js';
import type { KubernetesSettings, Toleration } from '../../runner/kubernetes-cluster.js';
import type { ControlStore } from '../../store/control-store.js';
import type { Reconciler } from '../queue/reconciler.js';

/** How often the capacity of a cluster is read. */
const DISCOVER_MS = 30_000;

export interface ClusterReconcilerOptions {
  readonly store: ControlStore;
  readonly runners: Pick<ClusterRunners, 'typeOf' | 'use' | 'drop'>;
  /** Called when free accelerators have changed. */
  readonly freed: () => void;
  /** Called when the runner of a cluster has been opened: it may have found replicas, and endpoints wait for it. */
  readonly opened: (cluster: string) => Promise<void>;
}

/** Opens and configures the runners of clusters, and reports their capacity. */
export class ClusterReconciler implements Reconciler {
  readonly kind = 'Cluster';

  constructor(private readonly options: ClusterReconcilerOptions) {}

  async reconcile(ref: ResourceRef): Promise<number | null> {
    const { freed, runners, store } = this.options;
    const record = await store.resources.get(ref);
    if (record === null) return null;
    if (record.deletedAt !== null) {
      await runners.drop(ref.name);
      await store.remove(ref, record.uid);
      return null;
    }
    const observed_generation = record.generation;
    let runner: Runner;
    try {
      runner = await this.#runnerOf(ref.name, record.uid, store.secretsOf(record) as ClusterSpec);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      await store.putStatus(ref, record.uid, { phase: 'Failed', message: error.message, observed_generation });
      return null;
    }
    const before = JSON.stringify(record.status?.accelerators ?? null);
    const status = statusOf(await runner.discover());
    await store.putStatus(ref, record.uid, { ...status, observed_generation });
    if (JSON.stringify(status.accelerators) !== before) freed();
    return DISCOVER_MS;
  }

  async #runnerOf(cluster: string, uid: string, spec: ClusterSpec): Promise<Runner> {
    const { opened, runners } = this.options;
    const isNew = runners.typeOf(cluster) === null;
    const runner = await runners.use(cluster, spec.type, clusterSettings(spec), uid);
    if (isNew) await opened(cluster);
    return runner;
  }
}

export function clusterSettings({ accelerators, kubernetes, ray }: ClusterSpec): ClusterSettings {
  return {
    ...(accelerators === undefined ? {} : { gpus: accelerators.map(gpuOf) }),
    ...(kubernetes === undefined ? {} : { kubernetes: kubernetesSettingsOf(kubernetes) }),
    ...(ray === undefined ? {} : { ray: raySettingsOf(ray) }),
  };
}

const gpuOf = ({ id, memory, product }: NonNullable<ClusterSpec['accelerators']>[number]): Gpu => ({
  id,
  product,
  memoryMiB: memory === undefined ? null : Math.floor(memoryBytes(memory) / 2 ** 20),
});

function kubernetesSettingsOf(given: NonNullable<ClusterSpec['kubernetes']>): KubernetesSettings {
  return {
    kubeconfig: given.kubeconfig ?? null,
    context: given.context ?? null,
    namespace: given.namespace ?? null,
    gpuResource: given.gpu_resource,
    sharedGpuResource: given.shared_gpu_resource ?? null,
    imagePullSecrets: given.image_pull_secrets,
    nodeSelector: given.node_selector,
    tolerations: given.tolerations as readonly Toleration[],
    serviceAccount: given.service_account ?? null,
    modelCache: given.model_cache ?? null,
    addsNodes: given.adds_nodes,
    allowsEndpointPatches: given.json_patches !== 'none',
    runAsUser: given.run_as_user ?? null,
  };
}

function raySettingsOf(given: NonNullable<ClusterSpec['ray']>): RaySettings {
  return {
    url: given.url,
    token: given.token ?? null,
    caFile: given.ca_file ?? null,
    ports: portRange(given.ports)!,
    nodeAddresses: given.node_addresses,
  };
}

const nodeStatus = (node: NodeCapacity) => ({
  name: node.name,
  cpus: node.cpus,
  free_cpus: node.freeCpus,
  memory_bytes: node.memoryBytes,
  free_memory_bytes: node.freeMemoryBytes,
  gpus: node.gpus,
  free_gpus: node.freeGpus,
  product: node.product,
});

function statusOf({ cpus, free, memoryBytes, nodes, problems }: ClusterCapacity) {
  return {
    phase: 'Ready',
    cpus,
    memory_bytes: memoryBytes,
    free_cpus: free.cpus,
    free_memory_bytes: free.memoryBytes,
    accelerators: free.gpus.map(({ free, id, memoryMiB, product }) => ({ id, product, memory_mib: memoryMiB, free })),
    ...(nodes === undefined ? {} : { nodes: nodes.map(nodeStatus) }),
    problems: [...problems],
  };
}
