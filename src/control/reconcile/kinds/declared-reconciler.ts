import type { ResourceRef } from '../../../store/resources/resource-record.js';
import type { ControlStore } from '../../store/control-store.js';
import type { Reconciler } from '../queue/reconciler.js';

/** Kinds without anything to run: ready when stored, removed when deleted. */
export class DeclaredReconciler implements Reconciler {
  constructor(
    readonly kind: 'Engine' | 'Role' | 'Workspace',
    private readonly store: ControlStore,
  ) {}

  async reconcile(ref: ResourceRef): Promise<null> {
    const record = await this.store.resources.get(ref);
    if (record === null) return null;
    // A resource that is still referenced cannot be deleted.
    if (record.deletedAt !== null) await this.store.remove(ref, record.uid);
    else await this.store.putStatus(ref, record.uid, { phase: 'Ready', observed_generation: record.generation });
    return null;
  }
}
