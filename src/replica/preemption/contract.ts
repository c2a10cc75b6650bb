import type { RunningBatch } from '../batch/running-batch.js';
import type { ReplicaRequests } from '../replica-requests.js';

/** Who loses its seat when the KV memory is full. One entry of `registry.ts`. */
export interface PreemptionPolicy {
  name: string;
  summary: string;
  /** The victim is always the last of the batch: nobody who already has tokens in this step is ever hit. */
  takesLast: boolean;
  /** Place of the victim in the batch order. The batch is never empty. */
  victim(batch: RunningBatch, requests: ReplicaRequests): number;
}
