import { KubeStatusError } from '../../../kube/errors.js';
import type { KubeClient } from '../../../kube/kube-client.js';
import type { KubeList, KubeObject } from '../../../kube/kube-object.js';
import type { ClusterCapacity, Gpu, KubernetesSettings } from '../contract.js';
import type { ReplicaPod } from './manifests/deployment.js';
import { PRODUCT_LABEL } from './manifests/pod-resources.js';

interface KubeNode extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: { readonly allocatable?: Readonly<Record<string, string>> };
}

const PAGE = 500;
const MEMORY_LABEL = 'nvidia.com/gpu.memory';
const LIMITS = { cpu: 'none', memory: 'replica', gpus: 'replica' } as const;

/**
 * What the nodes have. Nodes belong to no namespace: a Role alone does not allow to read them, and then the total is not known.
 * What is free is known for replicas of this cluster only, and the scheduler decides.
 */
export async function clusterCapacity(
  client: KubeClient,
  { gpuResource }: KubernetesSettings,
  pods: readonly ReplicaPod[],
  declared: readonly Gpu[] | undefined,
): Promise<ClusterCapacity> {
  const nodes = await nodesOf(client);
  const problems = [
    ...(nodes === null ? ['nodes may not be read: the size of the cluster is not known'] : []),
    ...(nodes === null ? [] : ['pods of other programs are not counted: less may be free']),
  ];
  const usable = (nodes ?? []).filter(({ spec }) => spec?.unschedulable !== true);
  const sum = (name: string) => usable.reduce((all, { status }) => all + quantity(status?.allocatable?.[name]), 0);
  const found = usable.flatMap((node) => gpusOf(node, gpuResource));
  const used = gpusInUse(pods, gpuResource);
  const gpus = declared ?? found;
  const [cpus, memoryBytes] = [sum('cpu'), sum('memory')];
  const free = gpus.map((gpu) => ({ ...gpu, free: declared === undefined && takeOne(used, gpu.id) ? 0 : 1 }));
  return { cpus, memoryBytes, gpus, free: { cpus, memoryBytes, gpus: free }, limits: LIMITS, problems };
}

/** Null: they may not be read. */
async function nodesOf(client: KubeClient): Promise<KubeNode[] | null> {
  const nodes: KubeNode[] = [];
  let next = '';
  do {
    try {
      const query = { limit: PAGE, continue: next };
      const page: KubeList<KubeNode> = await client.json('/api/v1/nodes', { query });
      nodes.push(...(page.items ?? []));
      next = page.metadata.continue ?? '';
    } catch (error) {
      if (error instanceof KubeStatusError && error.status === 403) return null;
      throw error;
    }
  } while (next !== '');
  return nodes;
}

function gpusOf({ metadata: { labels = {}, name }, status }: KubeNode, resource: string): Gpu[] {
  const memory = Number(labels[MEMORY_LABEL]);
  return Array.from({ length: quantity(status?.allocatable?.[resource]) }, (_, i) => ({
    id: `${name}/${i}`,
    product: labels[PRODUCT_LABEL] ?? resource,
    memoryMiB: memory > 0 ? memory : null,
  }));
}

/** GPUs of replicas by node. */
function gpusInUse(pods: readonly ReplicaPod[], resource: string): Map<string, number> {
  const used = new Map<string, number>();
  for (const { spec } of pods) {
    if (spec.nodeName === undefined) continue;
    const limits = spec.containers.map((one) => (one as { resources?: { limits?: Record<string, string> } }).resources);
    const count = limits.reduce((all, one) => all + quantity(one?.limits?.[resource]), 0);
    used.set(spec.nodeName, (used.get(spec.nodeName) ?? 0) + count);
  }
  return used;
}

function takeOne(used: Map<string, number>, id: string): boolean {
  const node = id.slice(0, id.lastIndexOf('/'));
  const left = used.get(node) ?? 0;
  used.set(node, Math.max(0, left - 1));
  return left > 0;
}

const SUFFIXES: Readonly<Record<string, number>> = {
  ...{ m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50 },
};

/** A quantity of Kubernetes as a number: `500m`, `16Gi`; 0 for none. */
export function quantity(text: string | undefined): number {
  const [, number, suffix] = /^([\d.]+(?:e\d+)?)([a-zA-Z]*)$/.exec(text ?? '') ?? [];
  return number === undefined ? 0 : Number(number) * (suffix ? (SUFFIXES[suffix] ?? 0) : 1);
}
