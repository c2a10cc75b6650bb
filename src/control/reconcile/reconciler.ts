import type { ResourceRef } from '../../store/resources/resource-record.js';

/** Keeps the resources of a kind true. */
export interface Reconciler {
  readonly kind: string;
  /**
   * Looks at what is wanted and what there is, and does what is to be done next. It is called after every change and every event,
   * and need not remember anything: what it did not get to, it does the next time. Throws what should be tried again later.
   * @returns when to look again although nothing has happened, in milliseconds; null for never
   */
  reconcile(ref: ResourceRef): Promise<number | null>;
}
