import type { RequestTable } from '../workload/request-table.js';
import type { RequestOutcomes } from './request-outcomes.js';

/** The identity of prompts, as PromptKeys of the workload layer gives it. */
export interface BlockKeys {
  /** Writes the keys of the row's first `blocks` blocks. */
  fill(row: number, blocks: number, out: Int32Array): void;
  /** How many of the row's first `blocks` blocks another request may share. */
  shared(row: number, blocks: number): number;
}

/** What all replicas of a cluster share: the requests by row, what is known of their prompts, and where results go. */
export interface ReplicaRequests {
  table: RequestTable;
  outcomes: RequestOutcomes;
  keys: BlockKeys;
  /** By row, optional: prompt tokens that were in the cache when the request got its first seat. */
  cachedTokens?: Int32Array;
  /** 0 for the most urgent SLO class; larger is less urgent. */
  urgency(row: number): number;
}

/**
 * Events of a replica for its router. Those of a step come at its end or, by the classic rules, at its start (see
 * `EngineRules.reportsStepEnds`); those of lost requests come at once.
 */
export interface ReplicaEvents {
  /** `atUs` is the end of the step that gave it. */
  firstToken(row: number, atUs: number): void;
  /** The request has left; `atUs` is the end of its last step (or the moment it was lost). */
  left(row: number, completed: boolean, atUs: number): void;
}
