import type { GpuFamily } from './latency/gpu-coefficients.js';
import type { LatencyProfile } from './latency/profile.js';

/** Everything one replica is built from, resolved: no defaults left to find. Plain data, part of the result document. */
export interface ReplicaModelConfig {
  /** Lower-cased. */
  model: string;
  hardware: string;
  tp: number;
  dp: number;
  moeCommBackend: string;
  latencyModel: string;
  /** Coefficients given by the user; null for the latency model's own. */
  alphaCoeffs: number[] | null;
  betaCoeffs: number[] | null;
  totalKvBlocks: number;
  blockSize: number;
  gpuMemoryUtilization: number;
  /** Longest request, prompt and output together: at least 1, at most what the KV blocks hold. */
  maxModelLen: number;
  maxNumSeqs: number;
  maxNumBatchedTokens: number;
  /** 0 for off. */
  longPrefillTokenThreshold: number;
  scheduler: string;
  preemptionPolicy: string;
  /** Name of the rules of `engine-rules.ts`; absent for the classic ones. */
  engineRules?: string;
  /** Measured step times, for the latency model `profile`. */
  latencyProfile?: LatencyProfile;
  /** Coefficients and their origin, for the latency model `physics`. */
  latencyFamily?: GpuFamily;
  /** Time before the queue, instead of the latency model's. Whole microseconds. */
  queueingUs?: number;
  /** Where the model and the GPU were described, when not in the bundled catalogue. */
  modelConfigFolder?: string;
  hardwareConfig?: string;
}
