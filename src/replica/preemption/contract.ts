import type { RunningBatch } from '../batch/running-batch.js';
import type { ReplicaRequests } from '../replica-requests.js';

/** Chooses the request that loses its seat when the KV memory is full. One entry of `registry.ts`. */
export interface PreemptionPolicy {
  name: string;
  summary: string;
  /** The victim is always the last of the batch, so never a request that already has tokens in this step. */
  takesLast: boolean;
  /** Place of the victim in the batch order. The batch is never empty. */
  victim(batch: RunningBatch, requests: ReplicaRequests): number;
}
