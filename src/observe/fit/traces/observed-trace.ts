import type { ReplicaModelConfig } from '../../../replica/replica-model-config.js';
import type { RequestTable } from '../../../workload/request-table.js';

/** Settings of an engine that decide how requests share it. */
export type EngineSettings = Pick<
  ReplicaModelConfig,
  | 'totalKvBlocks'
  | 'blockSize'
  | 'maxModelLen'
  | 'maxNumSeqs'
  | 'maxNumBatchedTokens'
  | 'longPrefillTokenThreshold'
  | 'scheduler'
  | 'preemptionPolicy'
  | 'engineRules'
>;

/** The requests of one engine, and their latencies. */
export interface ObservedTrace {
  name: string;
  /** Rows in order of arrival. */
  table: RequestTable;
  /** By row, from the arrival on; NaN where unknown. */
  ttftUs: Float64Array;
  e2eUs: Float64Array;
  /** Rows before this one are replayed but not judged: caches and clocks warm up. */
  warmUp: number;
  /** Requests that the client had under way at most; Infinity when it did not care. */
  maxInFlight: number;
  engine: EngineSettings;
}
