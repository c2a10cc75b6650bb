import type { ReplicaRequests } from '../replica-requests.js';

/** Whether row a is admitted before row b. A total order: no two rows are equal. */
export type SchedulingOrder = (a: number, b: number) => boolean;

/** In which order waiting requests are admitted to the batch. One entry of `registry.ts`. */
export interface Scheduler {
  name: string;
  summary: string;
  /** null: the order of the queue itself, preempted requests first. */
  order: ((requests: ReplicaRequests) => SchedulingOrder) | null;
}
