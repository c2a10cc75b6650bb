import type { RayNode, RayUse } from '../../../ray/ray-nodes.js';
import type { ClusterCapacity, FreeResources, Gpu, GpuPlacement, GpuShare, ReplicaResources } from '../contract.js';
import { NoRoom, roomText } from '../errors.js';
import { type Allocation, allocate, freeOf, type Machine } from '../local/machine/allocate.js';
import { exactSum } from '../local/machine/allocate-gpus.js';

/** What a replica of this cluster has, or had until a moment ago. */
export interface HeldResources {
  readonly nodeId: string;
  readonly resources: ReplicaResources;
  readonly gpus: readonly GpuShare[];
  /** When it ended, by the clock of Ray; null while it has not. */
  readonly endedAt: number | null;
}

/** A node with what is allocated on it. */
export interface RayNodeRoom {
  readonly node: RayNode;
  /** Its address, where that is its own. */
  readonly name: string;
  readonly machine: Machine;
  readonly held: readonly Allocation[];
}

/** Ray frees resources a moment after a job has ended. */
const RELEASE_MS = 2000;
/** CUDA_VISIBLE_DEVICES limits GPUs; CPUs and memory are only counted. */
const LIMITS = { cpu: 'none', memory: 'none', gpus: 'none' } as const;
const UNKNOWN_PRODUCT = 'GPU';

/**
 * The nodes with what our replicas hold and what other programs do. Ray reports the sum of both, up to five seconds late: what our
 * replicas held at that time is not counted as that of others.
 */
export function nodeRooms(
  nodes: readonly RayNode[],
  use: RayUse,
  held: readonly HeldResources[],
  declared?: readonly Gpu[],
): RayNodeRoom[] {
  const names = nodeNames(nodes);
  return nodes.map((node) => {
    const name = names.get(node.id)!;
    const all = Array.from({ length: Math.floor(node.gpus) }, (_, i) => `${name}/${i}`);
    const gpus = all.map((id) => ({ id, product: node.product ?? UNKNOWN_PRODUCT, memoryMiB: null }));
    const usable = declared === undefined ? gpus : gpus.flatMap(({ id }) => declared.filter((one) => one.id === id));
    const machine = { cpus: node.cpus, memoryBytes: node.memoryBytes, gpus: usable };
    const here = held.filter(({ nodeId }) => nodeId === node.id);
    const ours = here.filter(({ endedAt }) => endedAt === null);
    const counted = here.filter(({ endedAt }) => endedAt === null || endedAt > use.at - RELEASE_MS);
    return { node, name, machine, held: [...ours, ...foreignUse(machine, ours, counted, use.byNode.get(node.id))] };
  });
}

function nodeNames(nodes: readonly RayNode[]): Map<string, string> {
  const isAlone = (address: string) => nodes.filter((one) => one.address === address).length === 1;
  return new Map(nodes.map(({ address, id }) => [id, isAlone(address) ? address : `${address}-${id.slice(0, 8)}`]));
}

/** The name of the node's GPUs that Ray gave to a replica: those in CUDA_VISIBLE_DEVICES. */
export function reportedGpus(planned: readonly GpuShare[], devices: string | undefined): readonly GpuShare[] {
  const ids = (devices ?? '').split(',').filter((id) => /^\d+$/.test(id));
  if (ids.length === 0 || ids.length !== planned.length) return planned;
  return planned.map((one, i) => ({ ...one, id: `${one.id.slice(0, one.id.lastIndexOf('/'))}/${ids[i]}` }));
}

function foreignUse(
  machine: Machine,
  ours: readonly Allocation[],
  counted: readonly HeldResources[],
  used = { cpus: 0, memoryBytes: 0, gpus: 0 },
): Allocation[] {
  const sum = (of: (resources: ReplicaResources) => number) =>
    counted.reduce((all, { resources }) => all + of(resources), 0);
  const cpu = Math.max(0, used.cpus - sum((one) => one.cpu ?? 0));
  const memoryBytes = Math.max(0, used.memoryBytes - sum((one) => one.memoryBytes ?? 0));
  let gpus = used.gpus - sum((one) => one.gpus);
  const shares: GpuShare[] = [];
  // Which device it is is not known: the last ones, since Ray gives the first ones first and ours are known.
  for (const { free, id } of freeOf(machine, ours).gpus.toReversed()) {
    const share = Math.min(free, gpus);
    if (share <= 1e-6) continue;
    shares.push({ id, share });
    gpus -= share;
  }
  return [{ resources: { cpu, memoryBytes, gpus: 0, product: null }, gpus: shares }];
}

/** The node for a replica, and its GPUs there. All GPUs of a replica are on one node. Throws `NoRoom`. */
export function placeReplica(
  rooms: readonly RayNodeRoom[],
  resources: ReplicaResources,
  placement: GpuPlacement,
): { readonly node: RayNode; readonly gpus: readonly GpuShare[] } {
  const fitting = rooms.flatMap((room) => {
    try {
      return [{ ...room, gpus: allocate(room.machine, room.held, resources, placement).gpus }];
    } catch (error) {
      if (error instanceof NoRoom) return [];
      throw error;
    }
  });
  if (fitting.length === 0) {
    const [lacks, free] = [lacking(rooms, resources), freeInAll(rooms)];
    throw new NoRoom(lacks, resources, free, roomText(lacks, resources, free, 'on one node'));
  }
  const [best] = fitting.sort((a, b) => cost(a, resources, placement) - cost(b, resources, placement));
  return { node: best!.node, gpus: best!.gpus };
}

/** GPUs are packed or spread over nodes as they are over devices; replicas without any are always spread. */
function cost({ held, machine }: RayNodeRoom, { gpus }: ReplicaResources, placement: GpuPlacement): number {
  if (gpus === 0) return held.length;
  const free = freeOf(machine, held).gpus.reduce((all, one) => all + one.free, 0);
  return placement === 'pack' ? free : -free;
}

/** What no node has enough of; where each has enough of something else, the scarcest: GPUs. */
function lacking(rooms: readonly RayNodeRoom[], resources: ReplicaResources): NoRoom['lacks'] {
  const fits = (change: Partial<ReplicaResources>) =>
    rooms.some(({ held, machine }) => {
      try {
        allocate(machine, held, { ...resources, ...change });
        return true;
      } catch {
        return false;
      }
    });
  if (fits({ gpus: 0 })) return 'gpus';
  if (fits({ gpus: 0, cpu: null })) return 'cpu';
  return fits({ gpus: 0, memoryBytes: null }) ? 'memory' : 'cpu';
}

function freeInAll(rooms: readonly RayNodeRoom[]): FreeResources {
  const free = rooms.map(({ held, machine }) => freeOf(machine, held));
  return {
    // The most that one replica can have: all of it is on one node.
    cpus: Math.max(0, ...free.map(({ cpus }) => cpus)),
    memoryBytes: Math.max(0, ...free.map(({ memoryBytes }) => memoryBytes)),
    gpus: free.flatMap(({ gpus }) => gpus),
  };
}

/** The size of the cluster, and what is free of it. */
export function rayCapacity(rooms: readonly RayNodeRoom[], declared?: readonly Gpu[]): ClusterCapacity {
  const sum = (of: (room: RayNodeRoom) => number) => rooms.reduce((all, room) => all + of(room), 0);
  const free = rooms.map(({ held, machine }) => freeOf(machine, held));
  const found = free.flatMap(({ gpus }) => gpus);
  const missing = (declared ?? []).filter(({ id }) => !found.some((one) => one.id === id));
  const gpus = [...found, ...missing.map((gpu) => ({ ...gpu, free: 1 }))];
  return {
    cpus: sum(({ machine }) => machine.cpus),
    memoryBytes: sum(({ machine }) => machine.memoryBytes),
    gpus: gpus.map(({ free: _, ...gpu }) => gpu),
    free: {
      cpus: free.reduce((all, { cpus }) => all + cpus, 0),
      memoryBytes: free.reduce((all, { memoryBytes }) => all + memoryBytes, 0),
      gpus,
    },
    nodes: rooms.map(({ machine, name, node }, i) => ({
      ...{ name, cpus: machine.cpus, freeCpus: free[i]!.cpus },
      ...{ memoryBytes: machine.memoryBytes, freeMemoryBytes: free[i]!.memoryBytes },
      gpus: machine.gpus.length,
      freeGpus: exactSum(free[i]!.gpus.map((gpu) => gpu.free)),
      product: node.product,
    })),
    limits: LIMITS,
    problems: missing.map(({ id }) => `accelerator '${id}' is on no live node`),
  };
}
