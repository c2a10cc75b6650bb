import type { ResourceRef } from '../../store/resources/resource-record.js';
import type { ControlStore } from '../store/control-store.js';
import type { Reconciler } from './reconciler.js';

/** Kinds that stand for nothing but themselves: they are ready when they are stored, and gone when they are deleted. */
export class DeclaredReconciler implements Reconciler {
  constructor(
    readonly kind: 'Engine' | 'Role' | 'Workspace',
    private readonly store: ControlStore,
  ) {}

  async reconcile(ref: ResourceRef): Promise<null> {
    const record = await this.store.resources.get(ref);
    if (record === null) return null;
    // What others need was not let go of.
    if (record.deletedAt !== null) await this.store.remove(ref, record.uid);
    else await this.store.putStatus(ref, record.uid, { phase: 'Ready', observed_generation: record.generation });
    return null;
  }
}
