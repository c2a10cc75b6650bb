import type { ResourceRef } from '../../store/resources/resource-record.js';
import type { ClusterSpec } from '../resources/kinds/cluster.js';
import { memoryBytes } from '../resources/parts.js';
import type { Capacity, Gpu, Runner } from '../runner/contract.js';
import type { ControlStore } from '../store/control-store.js';
import { LOCAL_CLUSTER } from './local-cluster.js';
import type { Reconciler } from './reconciler.js';

/** How often it is looked at what there is. */
const AGAIN_MS = 30_000;

/** A runner that can be told what the machine has. */
export interface DeclaredRunner extends Pick<Runner, 'discover'> {
  declare(machine: { readonly gpus?: readonly Gpu[] }): void;
}

/** Says of this machine what it has and what is left of it. */
export class ClusterReconciler implements Reconciler {
  readonly kind = 'Cluster';

  /** @param freed what there is may be more than before */
  constructor(
    private readonly store: ControlStore,
    private readonly runner: DeclaredRunner,
    private readonly freed: () => void,
  ) {}

  async reconcile(ref: ResourceRef): Promise<number | null> {
    const record = await this.store.resources.get(ref);
    if (record === null) return null;
    if (record.deletedAt !== null) {
      await this.store.remove(ref, record.uid);
      return null;
    }
    const observed_generation = record.generation;
    if (ref.name !== LOCAL_CLUSTER) {
      const message = `this machine is the cluster '${LOCAL_CLUSTER}', and there is no other`;
      await this.store.putStatus(ref, record.uid, { phase: 'Failed', message, observed_generation });
      return null;
    }
    this.runner.declare(declaredMachine(record.spec as ClusterSpec));
    const before = JSON.stringify(record.status?.accelerators ?? null);
    const status = statusOf(await this.runner.discover());
    await this.store.putStatus(ref, record.uid, { ...status, observed_generation });
    if (JSON.stringify(status.accelerators) !== before) this.freed();
    return AGAIN_MS;
  }
}

export function declaredMachine({ accelerators }: ClusterSpec): { gpus?: Gpu[] } {
  if (accelerators === undefined) return {};
  return {
    gpus: accelerators.map(({ id, memory, product }) => ({
      id,
      product,
      memoryMiB: memory === undefined ? null : Math.floor(memoryBytes(memory) / 2 ** 20),
    })),
  };
}

function statusOf({ cpus, free, memoryBytes, problems }: Capacity) {
  return {
    phase: 'Ready',
    cpus,
    memory_bytes: memoryBytes,
    free_cpus: free.cpus,
    free_memory_bytes: free.memoryBytes,
    accelerators: free.gpus.map(({ free, id, memoryMiB, product }) => ({ id, product, memory_mib: memoryMiB, free })),
    problems: [...problems],
  };
}
