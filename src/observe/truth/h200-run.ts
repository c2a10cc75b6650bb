import { RequestTable } from '../../workload/request-table.js';
import type { ObservedTrace } from '../fit/traces/observed-trace.js';
import { readNumberTable } from './number-table.js';

const COLUMNS = [
  'arrival_us',
  'input_tokens',
  'output_tokens',
  'prefix_group',
  'prefix_length',
  'cached_tokens',
  'first_token_us',
  'last_token_us',
  'preemptions',
] as const;

/** A run of our engine on an H200, from its file of requests. */
export interface H200Run extends ObservedTrace {
  /** By row: prompt tokens that were found in the cache. */
  cachedTokens: Float64Array;
  preemptions: number;
}

/** The engine's settings are the same in all runs but for the size of its KV cache. */
export function readH200Run(name: string, path: string, kvBlocks: number): H200Run {
  const { count, columns } = readNumberTable(path, COLUMNS);
  const table = new RequestTable(count);
  for (let i = 0; i < count; i++) {
    const row = table.append();
    table.arrivalUs[row] = columns.arrival_us[i]!;
    table.inputTokens[row] = columns.input_tokens[i]!;
    table.outputTokens[row] = columns.output_tokens[i]!;
    if (columns.prefix_group[i]! < 0) continue;
    const group = table.prefixGroups.index(`prefix ${columns.prefix_group[i]}`);
    table.prefixGroup[row] = group;
    table.prefixTokens[group] = columns.prefix_length[i]!;
  }
  return {
    name,
    table,
    ttftUs: columns.first_token_us.map((us, i) => us - columns.arrival_us[i]!),
    e2eUs: columns.last_token_us.map((us, i) => us - columns.arrival_us[i]!),
    warmUp: 0,
    maxInFlight: Number.POSITIVE_INFINITY,
    engine: {
      totalKvBlocks: kvBlocks,
      blockSize: 16,
      maxModelLen: 8448,
      maxNumSeqs: 256,
      maxNumBatchedTokens: 2048,
      longPrefillTokenThreshold: 0,
      scheduler: 'fcfs',
      preemptionPolicy: 'fcfs',
      engineRules: 'vllm-v1',
    },
    cachedTokens: columns.cached_tokens,
    preemptions: columns.preemptions.reduce((sum, times) => sum + times, 0),
  };
}
