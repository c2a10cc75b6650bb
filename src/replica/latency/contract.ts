import type { GpuSpec, ModelSpec } from '../catalogue/contract.js';
import type { GpuFamily } from './gpu-coefficients.js';
import type { LatencyProfile } from './profile.js';

/**
 * A batch as the sums that step times depend on. A decode-only step changes them by constants, which is why a step costs
 * O(1) and not O(batch). The replica reuses one object.
 */
export interface BatchShape {
  /** Requests that get at least one token in this step. */
  scheduled: number;
  /** Requests that decode one token, and the sum of their contexts before the step. */
  decodes: number;
  decodeContext: number;
  /** Requests that prefill, and their new tokens t. */
  prefills: number;
  prefillTokens: number;
  /** Sum over prefills of the progress before the step (seq): 0 in a request's first step, cached tokens or not. */
  prefillContext: number;
  /** Sum over prefills of t * (whole input length + t / 2). */
  prefillFullAttention: number;
  /** Sum over prefills of t * (seq + (t - 1) / 2). */
  prefillCausalAttention: number;
  /** Sum over prefills of t * c + t * (t + 1) / 2, where c counts all tokens before the new ones, cached ones included. */
  prefillPairs: number;
  /** Most tokens, old and new, of a request that prefills. */
  prefillLongest: number;
  /** Longest context of the requests past their prompt, before the step. 0 unless the model `readsContexts`. */
  decodeLongest: number;
  /** Tokens that fit into the KV blocks in use, each block counted once. 0 unless the model `readsContexts`. */
  heldTokens: number;
}

export interface LatencyModel {
  /** Between a request's arrival at the replica and its place in the wait queue. Whole microseconds. */
  readonly queueingUs: number;
  /** Added to every reported token, not to the clock. */
  readonly outputTokenUs: number;
  /** Added once to the reported end-to-end time of a request with output, not to the clock. */
  readonly postDecodeUs: number;
  /** It looks at single contexts, not only at their sum: the replica then keeps track of them. */
  readonly readsContexts?: boolean;
  /**
   * Duration of one step, whole microseconds, at least 1. `startUs` is when it starts, by default right after the step
   * before: models with a memory of earlier steps forget as time passes.
   */
  stepUs(shape: BatchShape, startUs?: number): number;
}

/** The model with another time before the queue, where one is given. */
export function withQueueing(latency: LatencyModel, { queueingUs }: { queueingUs?: number }): LatencyModel {
  return queueingUs === undefined ? latency : { ...latency, queueingUs };
}

/** How one model is laid out over GPUs. */
export interface Parallelism {
  tp: number;
  /** Data-parallel ranks; 1 unless the model is a mixture of experts. */
  dp: number;
  moeCommBackend: string;
}

/** The inputs of a latency model: plain data, validated by `create`. */
export interface LatencySetup {
  model: ModelSpec;
  gpu: GpuSpec;
  parallelism: Parallelism;
  /** Coefficients given by the user instead of the model's own. */
  alpha?: readonly number[];
  beta?: readonly number[];
  /** Measured step times, for the latency model that uses them. */
  profile?: LatencyProfile;
  /** Coefficients of the GPU's family, for the latency model that uses them; by default those of the catalogue. */
  family?: GpuFamily;
}

/** One entry of `latency/registry.ts`. */
export interface LatencyModelKind {
  name: string;
  summary: string;
  /** Throws InputError when the setup cannot be modelled; `warn` gets one line for what is possible but doubtful. */
  create(setup: LatencySetup, warn: (line: string) => void): LatencyModel;
}
