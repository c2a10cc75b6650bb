import { KubeStatusError } from '../../../../kube/errors.js';
import type { KubeClient } from '../../../../kube/kube-client.js';
import { collectionPath, type KubeKind, NODES, PODS } from '../../../../kube/kube-kind.js';
import type { KubeList, KubeObject } from '../../../../kube/kube-object.js';
import type { ClusterCapacity, Gpu } from '../../contract.js';
import type { KubernetesSettings } from '../../kubernetes-cluster.js';
import type { KubeCondition, ReplicaPod } from '../manifests/deployment.js';
import { productLabel } from '../manifests/pod-resources.js';
import { podDemand, type Quantities, quantities } from './pod-demand.js';

interface KubeNode extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly conditions?: readonly KubeCondition[];
  };
}

/** A node that takes pods: what it has, and what pods that run there or are bound to it have requested. */
export interface KubeNodeRoom {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly has: Quantities;
  readonly used: Quantities;
}

/** The nodes, and what may be wrong with the numbers. Null: they may not be read. */
export interface ClusterRoom {
  readonly nodes: readonly KubeNodeRoom[] | null;
  readonly problems: readonly string[];
}

const PAGE = 500;
const MEMORY_LABEL = 'nvidia.com/gpu.memory';
const LIMITS = { cpu: 'none', memory: 'replica', gpus: 'replica' } as const;

/**
 * What the nodes have and what is left of it. Nodes belong to no namespace: a Role alone does not allow to read them. Where pods of
 * other namespaces may not be read, only those of this cluster's replicas count.
 */
export async function clusterRoom(client: KubeClient, own: readonly ReplicaPod[]): Promise<ClusterRoom> {
  const nodes = await allOf<KubeNode>(client, NODES);
  if (nodes === null) {
    return { nodes: null, problems: ['nodes may not be read: what the cluster has and what is free is not known'] };
  }
  const all = await allOf<ReplicaPod>(client, PODS);
  const problems = all === null ? ['pods of other programs may not be read: less may be free'] : [];
  const used = new Map<string, Quantities>();
  for (const pod of all ?? own) {
    const { nodeName } = pod.spec;
    if (nodeName === undefined || ['Succeeded', 'Failed'].includes(pod.status?.phase ?? '')) continue;
    used.set(nodeName, sum(used.get(nodeName) ?? {}, podDemand(pod)));
  }
  const rooms = nodes.filter(takesPods).map(({ metadata: { labels = {}, name }, status }) => {
    return { name, labels, has: quantities(status?.allocatable), used: used.get(name) ?? {} };
  });
  return { nodes: rooms, problems };
}

/** The same as one amount, with a line for each GPU. */
export function clusterCapacity(
  { nodes, problems }: ClusterRoom,
  { gpuResource }: Pick<KubernetesSettings, 'gpuResource'>,
  declared: readonly Gpu[] | undefined,
): ClusterCapacity {
  const rooms = nodes ?? [];
  const total = (name: string) => rooms.reduce((all, { has }) => all + (has[name] ?? 0), 0);
  const left = (name: string) => rooms.reduce((all, room) => all + freeOn(room, name), 0);
  const gpus = rooms.flatMap((room) => gpusOn(room, gpuResource));
  return {
    ...{ cpus: total('cpu'), memoryBytes: total('memory') },
    gpus: (declared ?? gpus).map(({ id, memoryMiB, product }) => ({ id, product, memoryMiB })),
    free: {
      cpus: Math.round(left('cpu') * 1000) / 1000,
      memoryBytes: left('memory'),
      gpus: declared?.map((gpu) => ({ ...gpu, free: 1 })) ?? gpus,
    },
    ...{ limits: LIMITS, problems },
  };
}

/** What is left of a resource on a node. */
export const freeOn = ({ has, used }: KubeNodeRoom, name: string) => Math.max(0, (has[name] ?? 0) - (used[name] ?? 0));

/** Kubernetes does not tell which of them are used: the first ones. */
function gpusOn(room: KubeNodeRoom, resource: string): (Gpu & { free: number })[] {
  const memory = Number(room.labels[MEMORY_LABEL]);
  const count = room.has[resource] ?? 0;
  const used = count - freeOn(room, resource);
  return Array.from({ length: count }, (_, i) => ({
    id: `${room.name}/${i}`,
    product: room.labels[productLabel(resource).name] ?? resource,
    memoryMiB: memory > 0 ? memory : null,
    free: i < used ? 0 : 1,
  }));
}

function takesPods({ spec, status }: KubeNode): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return spec?.unschedulable !== true && (ready === undefined || ready.status === 'True');
}

function sum(one: Quantities, other: Quantities): Quantities {
  const all: Record<string, number> = { ...one };
  for (const [name, amount] of Object.entries(other)) all[name] = (all[name] ?? 0) + amount;
  return all;
}

/** All objects of a kind in the cluster; null: they may not be read. */
async function allOf<T extends KubeObject>(client: KubeClient, kind: KubeKind): Promise<T[] | null> {
  const found: T[] = [];
  let next = '';
  do {
    try {
      const query = { limit: PAGE, continue: next };
      const page: KubeList<T> = await client.json(collectionPath(kind, null), { query });
      found.push(...(page.items ?? []));
      next = page.metadata.continue ?? '';
    } catch (error) {
      if (error instanceof KubeStatusError && error.status === 403) return null;
      throw error;
    }
  } while (next !== '');
  return found;
}
