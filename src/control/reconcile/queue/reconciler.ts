import type { ResourceRef } from '../../../store/resources/resource-record.js';

/** Brings the resources of a kind from their observed to their desired state. */
export interface Reconciler {
  readonly kind: string;
  /**
   * Compares desired and observed state and takes the next steps. Called after every change and every event; it need not remember
   * anything, since the next call finds what is left to do. Throws what should be retried later.
   * @returns milliseconds until the next call if nothing happens before; null for none
   */
  reconcile(ref: ResourceRef): Promise<number | null>;
}
