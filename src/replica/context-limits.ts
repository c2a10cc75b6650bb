import { type RequestTable, ROW_OPEN_ENDED } from '../workload/request-table.js';
import type { ReplicaModelConfig } from './replica-model-config.js';

/**
 * Whether a replica can ever serve a request: its prompt plus its output limit must fit the longest context, and its
 * prompt the KV memory. A request without an output limit gets the rest of the context.
 */
export function isServable(table: RequestTable, row: number, config: ReplicaModelConfig): boolean {
  const input = table.inputTokens[row]!;
  const declared = (table.flags[row]! & ROW_OPEN_ENDED) === 0 ? table.outputTokens[row]! : 0;
  const wanted = declared === 0 ? config.maxModelLen - input : declared;
  if (input >= config.maxModelLen || input + wanted > config.maxModelLen) return false;
  return Math.ceil(input / config.blockSize) <= config.totalKvBlocks;
}

/** Context length at which a request is done: its last token's KV is written after that. */
export function lastContext(table: RequestTable, row: number, config: ReplicaModelConfig): number {
  const natural = table.inputTokens[row]! + Math.max(table.outputTokens[row]!, 1) - 1;
  return Math.min(natural, config.maxModelLen - 1);
}
