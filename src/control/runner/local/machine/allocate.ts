import type { FreeResources, Gpu, GpuPlacement, GpuShare, ReplicaResources } from '../../contract.js';
import { NoRoom } from '../../errors.js';
import { allocateGpus, exactSum, freeShares } from './allocate-gpus.js';

/** What all replicas share. */
export interface Machine {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: readonly Gpu[];
}

/** What one replica has. */
export interface Allocation {
  readonly resources: ReplicaResources;
  readonly gpus: readonly GpuShare[];
}

/** What is left of a machine. */
export function freeOf(machine: Machine, held: readonly Allocation[]): FreeResources {
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

/** Reserves resources for a replica; throws `NoRoom` when they are not free. The same input gives the same result. */
export function allocate(
  machine: Machine,
  held: readonly Allocation[],
  resources: ReplicaResources,
  placement: GpuPlacement = 'pack',
): Allocation {
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
