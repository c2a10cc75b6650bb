import type { BatchShape } from '../../replica/latency/contract.js';

/** A measured step: what it computed, and how long it took. */
export interface StepSample {
  shape: BatchShape;
  /** From its start to the start of the next one, where there was one right after it. */
  us: number;
  /** Steps it stands for: the row of a table may be the median of several. */
  count: number;
  /** Measured in service, with the host's work for every request around it; otherwise the step alone. */
  inService: boolean;
  /** It works on prompts, and none of its run before it had as many tokens. */
  firstOfSize: boolean;
}
