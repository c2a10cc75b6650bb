import type { ResourceRecord, ResourceRef } from '../../../store/resources/resource-record.js';

/**
 * What a resource still needs at a start. `now`: its routes are not known before it has been reconciled; `later`: its
 * routes are known, the rest can wait for all others; `nothing`: it is as its status says.
 */
export type StartNeeds = 'now' | 'later' | 'nothing';

/** Brings the resources of a kind from their observed to their desired state. */
export interface Reconciler {
  readonly kind: string;
  /**
   * Compares desired and observed state and takes the next steps. Called after every change and every event; it need not remember
   * anything, since the next call finds what is left to do. Throws what should be retried later.
   * @returns milliseconds until the next call if nothing happens before; null for none
   */
  reconcile(ref: ResourceRef): Promise<number | null>;
  /**
   * Gives the gateway at a start what follows from the stored record alone. Without it, every resource of the kind is
   * reconciled, after those of kinds that have it.
   */
  restore?(record: ResourceRecord): StartNeeds;
}
