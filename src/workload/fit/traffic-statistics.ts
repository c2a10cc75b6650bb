import { mean, percentile } from '../../kernel/percentile.js';
import { arrivalOrder } from '../arrival-order.js';
import type { RequestTable } from '../request-table.js';
import { prefixReuse } from '../tools/stats/prefix-reuse.js';

/** The statistics that a fit preserves, by name, in display order. */
export type TrafficStatistics = Record<StatisticName, number>;

export type StatisticName = (typeof STATISTIC_NAMES)[number];

export const STATISTIC_NAMES = [
  'requests_per_s',
  'input_mean',
  'input_p50',
  'input_p90',
  'input_p99',
  'output_mean',
  'output_p50',
  'output_p90',
  'output_p99',
  'reusable_share',
] as const;

/** Blocks of recorded prompts have this size in most traces. */
export const DEFAULT_BLOCK_TOKENS = 512;

/** @param durationUs of the traffic, to its end: not only up to the last arrival */
export function trafficStatistics(table: RequestTable, durationUs: number, blockTokens: number): TrafficStatistics {
  const { count } = table;
  const inputs = table.inputTokens.slice(0, count).sort();
  const outputs = table.outputTokens.slice(0, count).sort();
  return {
    requests_per_s: count / (durationUs / 1e6),
    input_mean: mean(inputs),
    input_p50: percentile(inputs, 50),
    input_p90: percentile(inputs, 90),
    input_p99: percentile(inputs, 99),
    output_mean: mean(outputs),
    output_p50: percentile(outputs, 50),
    output_p90: percentile(outputs, 90),
    output_p99: percentile(outputs, 99),
    reusable_share: reusableShare(table, blockTokens),
  };
}

/** The share of prompt blocks that an unlimited cache holds on arrival: an earlier prompt began with them. */
export function reusableShare(table: RequestTable, blockTokens: number): number {
  const { reusedTokens } = prefixReuse(table, arrivalOrder(table), blockTokens, null);
  let reused = 0;
  let blocks = 0;
  for (let i = 0; i < reusedTokens.length; i++) reused += reusedTokens[i]! / blockTokens;
  for (let row = 0; row < table.count; row++) blocks += Math.ceil(table.inputTokens[row]! / blockTokens);
  return blocks === 0 ? 0 : reused / blocks;
}
