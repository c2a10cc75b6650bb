import { percentile } from '../../../kernel/percentile.js';
import { arrivalOrder } from '../../arrival-order.js';
import { type RequestTable, requestId } from '../../request-table.js';
import type { Trace } from '../../trace.js';
import { promptTable } from '../prompt-table.js';
import { NAME_COLUMNS, type NamedColumn } from '../select-rows.js';
import { sessionTurns } from '../session-turns.js';
import { type PrefixReuse, prefixReuse } from './prefix-reuse.js';
import type { PromptKnowledge, Spread, TraceSeries, TraceStats } from './trace-stats-document.js';

export interface StatsOptions {
  /** Tokens of a block; by default as recorded, or 16. */
  blockSize?: number;
  /** Cache sizes in blocks to try besides an unlimited one. */
  cacheBlocks?: number;
}

const SECOND_US = 1e6;

export function traceStats(trace: Trace, options: StatsOptions = {}): { stats: TraceStats; series: TraceSeries } {
  const table = promptTable(trace);
  const order = arrivalOrder(table);
  const inOrder = (column: ArrayLike<number>) => Float64Array.from(order, (row) => column[row]!);
  const blockSize = options.blockSize ?? table.blocks?.blockTokens ?? 16;
  const reuse = prefixReuse(table, order, blockSize, options.cacheBlocks ?? null);
  const series: TraceSeries = {
    arrivalUs: inOrder(table.arrivalUs),
    inputTokens: inOrder(table.inputTokens),
    reusedTokens: reuse.reusedTokens,
    cachedTokens: reuse.cachedTokens,
    sortedInput: inOrder(table.inputTokens).sort(),
    sortedOutput: inOrder(table.outputTokens).sort(),
    sortedTurns: turnsOfChats(table),
  };
  const { arrivalUs, sortedInput, sortedOutput, sortedTurns } = series;
  const turns = sum(sortedTurns);
  const stats: TraceStats = {
    format: trace.format,
    requests: table.count,
    duration_s: (arrivalUs.at(-1)! - arrivalUs[0]!) / SECOND_US,
    rate: rateOf(arrivalUs),
    input_tokens: { total: sum(sortedInput), ...spread(sortedInput) },
    output_tokens: { total: sum(sortedOutput), ...spread(sortedOutput) },
    ...(turns > 0 ? { chats: { count: sortedTurns.length, requests: turns, turns: spread(sortedTurns) } } : {}),
    ...recordedBlocks(table),
    prefix_reuse: reuseOf(table, reuse, blockSize, options.cacheBlocks, sum(sortedInput)),
    ...named(table, 'slo_classes', 'sloClass'),
    ...named(table, 'tenants', 'tenant'),
    ...named(table, 'models', 'model'),
    ...named(table, 'clients', 'client'),
  };
  return { stats, series };
}

function rateOf(arrivalUs: Float64Array): TraceStats['rate'] {
  const gaps = arrivalUs.length - 1;
  const duration = arrivalUs[gaps]! - arrivalUs[0]!;
  const mean = duration / gaps;
  let squares = 0;
  for (let i = 1; i <= gaps; i++) squares += (arrivalUs[i]! - arrivalUs[i - 1]! - mean) ** 2;
  return {
    mean_per_s: duration > 0 ? SECOND_US / mean : null,
    peak_per_second: peak(arrivalUs, SECOND_US),
    peak_per_minute: peak(arrivalUs, 60 * SECOND_US),
    gap_cv: duration > 0 ? Math.sqrt(squares / gaps) / mean : null,
  };
}

/** The most arrivals in any stretch of this length. */
function peak(arrivalUs: Float64Array, lengthUs: number): number {
  let most = 0;
  for (let begin = 0, end = 0; end < arrivalUs.length; end++) {
    while (arrivalUs[end]! - arrivalUs[begin]! >= lengthUs) begin++;
    most = Math.max(most, end + 1 - begin);
  }
  return most;
}

/** The number of turns of each session, sorted. */
function turnsOfChats(table: RequestTable): Float64Array {
  const { begin } = sessionTurns(table);
  return Float64Array.from({ length: table.sessions.size - 1 }, (_, i) => begin[i + 2]! - begin[i + 1]!).sort();
}

function recordedBlocks({ blocks, count: rows }: RequestTable): Pick<TraceStats, 'recorded_blocks'> {
  if (blocks === null) return {};
  let count = 0;
  for (let row = 0; row < rows; row++) count += blocks.blocksOf(row);
  if (count === 0) return {};
  const { blockTokens: tokens, count: distinct } = blocks;
  return { recorded_blocks: { tokens, count, distinct, seen_before_share: 1 - distinct / count } };
}

function reuseOf(
  table: RequestTable,
  reuse: PrefixReuse,
  blockSize: number,
  cacheBlocks: number | undefined,
  promptTokens: number,
): TraceStats['prefix_reuse'] {
  const shareOf = (tokens: Float64Array) => {
    const reused = sum(tokens);
    return { reused_tokens: reused, share: promptTokens === 0 ? 0 : reused / promptTokens };
  };
  return {
    known_by: knowledgeOf(table),
    block_size: blockSize,
    infinite_cache: shareOf(reuse.reusedTokens),
    ...(cacheBlocks === undefined ? {} : { lru_cache: { blocks: cacheBlocks, ...shareOf(reuse.cachedTokens!) } }),
    hot_prefixes: reuse.hotPrefixes.map(({ tokens, uses, reusedTokens, row }) => ({
      tokens,
      uses,
      reused_tokens: reusedTokens,
      first_request: requestId(table, row),
    })),
  };
}

function knowledgeOf({ blocks, contextTokens, prefixGroups }: RequestTable): PromptKnowledge[] {
  const known: [PromptKnowledge, boolean][] = [
    ['recorded_blocks', blocks !== null],
    ['prefix_groups', prefixGroups.size > 1],
    ['growing_chats', contextTokens.length > 1],
  ];
  return known.filter(([, isTold]) => isTold).map(([name]) => name);
}

/** Requests by name under this key, unnamed ones left out; nothing when none has a name. */
function named(table: RequestTable, key: string, column: NamedColumn): Record<string, Record<string, number>> {
  const names = table[NAME_COLUMNS[column]];
  const counts = new Float64Array(names.size);
  for (let row = 0; row < table.count; row++) counts[table[column][row]!]!++;
  const entries = names
    .names()
    .map((name, i): [string, number] => [name, counts[i]!])
    .slice(1);
  entries.sort((a, b) => b[1] - a[1]);
  return entries.length === 0 ? {} : { [key]: Object.fromEntries(entries) };
}

function spread(sorted: Float64Array): Spread {
  return {
    mean: sum(sorted) / sorted.length,
    p50: percentile(sorted, 50),
    p90: percentile(sorted, 90),
    p99: percentile(sorted, 99),
    max: sorted.at(-1)!,
  };
}

function sum(values: Float64Array): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i]!;
  return total;
}
