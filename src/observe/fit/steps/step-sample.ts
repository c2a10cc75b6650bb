import type { BatchShape } from '../../../replica/latency/contract.js';

/** A measured step: what it computed, and how long it took. */
export interface StepSample {
  shape: BatchShape;
  /** From its start to the start of the next one, where there was one right after it. */
  us: number;
  /** How much of that the GPU had nothing to do, where this was measured. */
  hostUs?: number;
  /** How long the engine was idle before it: 0 by default, Infinity before the first step of a run. */
  restUs?: number;
  /** Number of steps it represents: the row of a table may be the median of several. */
  count: number;
  /**
   * Measured in service, one after the other, with the host's work around it; otherwise the step alone, again and
   * again.
   */
  inService: boolean;
  /** It works on prompts, and none of its run before it had as many tokens. */
  firstOfSize: boolean;
}
