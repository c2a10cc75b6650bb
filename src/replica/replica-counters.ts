/** Counters of one replica for the result document. */
export class ReplicaCounters {
  completed = 0;
  lengthCapped = 0;
  dropped = 0;
  timedOut = 0;
  inputTokens = 0;
  outputTokens = 0;
  allocationFailures = 0;
  /** Sum and number of wait-queue lengths, one sample per step. */
  queueSamples = 0;
  steps = 0;
}
