import type { FreeResources, Gpu, GpuShare, Placement, ReplicaResources } from '../contract.js';
import { NoRoom } from '../errors.js';
import { allocateGpus, freeShares } from './allocate-gpus.js';
import { exactSum } from './exact-sum.js';

/** What replicas share. */
export interface Machine {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: readonly Gpu[];
}

/** What one replica has. */
export interface Held {
  readonly resources: ReplicaResources;
  readonly gpus: readonly GpuShare[];
}

/** What is left of a machine beside those who have something of it. */
export function freeOf(machine: Machine, held: readonly Held[]): FreeResources {
  const shares = freeShares(
    machine.gpus,
    held.flatMap(({ gpus }) => gpus),
  );
  const cpus = exactSum([machine.cpus, ...held.map(({ resources }) => -(resources.cpu ?? 0))]);
  const memoryBytes = held.reduce((left, { resources }) => left - (resources.memoryBytes ?? 0), machine.memoryBytes);
  return {
    cpus: Math.max(0, cpus),
    memoryBytes: Math.max(0, memoryBytes),
    gpus: machine.gpus.map((gpu, i) => ({ ...gpu, free: shares[i]! })),
  };
}

/**
 * Finds room for a replica: the GPUs that it gets. Throws `NoRoom` when there is none. The same machine, holders and wish
 * give the same answer.
 */
export function allocate(
  machine: Machine,
  held: readonly Held[],
  resources: ReplicaResources,
  placement: Placement = 'pack',
): Held {
  const free = freeOf(machine, held);
  if ((resources.cpu ?? 0) > free.cpus) throw new NoRoom('cpu', resources, free);
  if ((resources.memoryBytes ?? 0) > free.memoryBytes) throw new NoRoom('memory', resources, free);
  const shares = allocateGpus(
    machine.gpus,
    held.flatMap(({ gpus }) => gpus),
    { ...resources, placement },
  );
  if (shares === null) throw new NoRoom('gpus', resources, free);
  return { resources, gpus: shares };
}
