import { notRay } from './errors.js';
import type { RayClient } from './ray-client.js';

/** A live node. Amounts are those that it was started with: Ray counts them and measures nothing. */
export interface RayNode {
  readonly id: string;
  readonly address: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: number;
  /** Of its GPUs: from the label, else from the custom resource; null where it has neither. */
  readonly product: string | null;
  /** The custom resource that names the product; null without one. */
  readonly productResource: string | null;
}

/** What jobs, actors and tasks of all programs use of a node. */
export interface NodeUse {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: number;
}

/** Ray reports it every five seconds. */
export interface RayUse {
  /** When it was read, in milliseconds since 1970, by the clock of the head. */
  readonly at: number;
  readonly byNode: ReadonlyMap<string, NodeUse>;
}

interface StateResponse {
  readonly data?: { readonly result?: { readonly result?: readonly StateNode[] } };
}

interface StateNode {
  readonly node_id: string;
  readonly node_ip: string;
  readonly state: string;
  readonly resources_total?: Readonly<Record<string, number>>;
  readonly labels?: Readonly<Record<string, string>>;
}

interface StatusResponse {
  readonly data?: {
    readonly clusterStatus?: {
      readonly time?: number;
      readonly loadMetricsReport?: { readonly usageByNode?: Readonly<Record<string, Usage>> };
    } | null;
  };
}

type Usage = Readonly<Record<string, readonly [number, number]>>;

const MOST_NODES = 10_000;
const PRODUCT_LABEL = 'ray.io/accelerator-type';
const PRODUCT_RESOURCE = 'accelerator_type:';

/** The live nodes, ordered by address and id. */
export async function readNodes(client: RayClient): Promise<RayNode[]> {
  const path = `/api/v0/nodes?detail=true&limit=${MOST_NODES}`;
  const nodes = (await client.json<StateResponse>({ path })).data?.result?.result;
  if (!Array.isArray(nodes)) throw notRay(client.url, '/api/v0/nodes: no nodes');
  return (nodes as readonly StateNode[])
    .filter(({ state }) => state === 'ALIVE')
    .map(nodeOf)
    .sort((a, b) => compare(a.address, b.address) || compare(a.id, b.id));
}

function nodeOf({ labels = {}, node_id, node_ip, resources_total: total = {} }: StateNode): RayNode {
  const productResource = Object.keys(total).find((name) => name.startsWith(PRODUCT_RESOURCE)) ?? null;
  return {
    ...{ id: node_id, address: node_ip, cpus: total.CPU ?? 0, memoryBytes: total.memory ?? 0, gpus: total.GPU ?? 0 },
    product: labels[PRODUCT_LABEL] || (productResource?.slice(PRODUCT_RESOURCE.length) ?? null),
    productResource,
  };
}

/** What is in use; nothing while Ray has not reported yet. */
export async function readUse(client: RayClient): Promise<RayUse> {
  const status = (await client.json<StatusResponse>({ path: '/api/cluster_status' })).data?.clusterStatus;
  const byNode = Object.entries(status?.loadMetricsReport?.usageByNode ?? {}).map(
    ([id, usage]) => [id, useOf(usage)] as const,
  );
  return { at: (status?.time ?? 0) * 1000, byNode: new Map(byNode) };
}

const useOf = (usage: Usage): NodeUse => ({
  cpus: usage.CPU?.[0] ?? 0,
  memoryBytes: usage.memory?.[0] ?? 0,
  gpus: usage.GPU?.[0] ?? 0,
});

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
