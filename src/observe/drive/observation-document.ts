import type { CountedValues } from '../../kernel/counted-values.js';
import { mean, percentile } from '../../kernel/percentile.js';
import { camelCase } from '../../schema/names.js';
import {
  type LatencySpread,
  spreadKeys,
  spreadOfGaps,
  spreadOfSorted,
} from '../../simulator/results/latency-spread.js';
import type { RequestTable } from '../../workload/request-table.js';
import type { TraceServer } from '../../workload/trace.js';
import { SERVER_SCHEMA } from '../../workload/trace-v2/header/header-schema.js';
import type { ObservationDocument, TokenDifference } from './observation.js';
import type { TokenScale } from './prompts/token-scale.js';
import type { RequestRecords } from './send/request-records.js';

export interface DocumentParts {
  url: string;
  settings: TraceServer;
  table: RequestTable;
  records: RequestRecords;
  /** Those that count. */
  rows: Int32Array;
  gaps: CountedValues;
  isStream: boolean;
  planned: number;
  sent: number;
  scale: TokenScale;
  checkedPrompts: number;
  maxLatenessMs: number;
  metrics: Record<string, number>;
  partial: string | null;
}

/** The report of an observation. Latencies are those of complete responses. */
export function observationDocument(parts: DocumentParts): ObservationDocument {
  const { gaps, isStream, maxLatenessMs, records, rows, scale, settings, table, url } = parts;
  const complete = rows.filter((row) => records.isComplete[row] === 1);
  const after = (column: Float64Array) =>
    Float64Array.from(complete, (row) => column[row]! - records.sentUs[row]!).sort();
  const sumOf = (column: Int32Array) => complete.reduce((sum, row) => sum + Math.max(0, column[row]!), 0);
  const begin = rows.reduce((least, row) => Math.min(least, records.sentUs[row]!), Number.POSITIVE_INFINITY);
  const end = rows.reduce((most, row) => Math.max(most, records.lastUs[row]!), 0);
  const seconds = rows.length === 0 ? 0 : (end - begin) / 1e6;
  const perSecond = (count: number) => (seconds > 0 ? count / seconds : 0);
  const lateness = spread(rows, records.latenessUs);
  const isLate = maxLatenessMs > 0 && lateness.p99 > maxLatenessMs;
  const outputTokens = sumOf(records.outputTokens);
  return {
    server: { url, ...settingKeys(settings) },
    requests: {
      planned: parts.planned,
      sent: parts.sent,
      warm_up: parts.sent - rows.length,
      recorded: rows.length,
      completed: complete.length,
      failed: rows.length - complete.length,
      problems: problemCounts(records, rows),
    },
    duration_s: seconds,
    responses_per_sec: perSecond(complete.length),
    tokens_per_sec: perSecond(outputTokens),
    total_input_tokens: sumOf(records.inputTokens),
    total_cached_tokens: sumOf(records.cachedTokens),
    total_output_tokens: outputTokens,
    ...spreadKeys('e2e', spreadOfSorted(after(records.lastUs))),
    ...spreadKeys('ttft', spreadOfSorted(isStream ? after(records.firstUs) : new Float64Array(0))),
    ...spreadKeys('itl', spreadOfGaps(gaps, 0)),
    driver: {
      lateness,
      cap_wait: spread(rows, records.capWaitUs),
      connect: spread(rows, records.connectUs),
      max_lateness_ms: maxLatenessMs,
    },
    prompts: {
      counted_by: scale.by,
      tokens_per_word: scale.tokensPerWord,
      checked: parts.checkedPrompts,
      too_long: tooLong(table, rows, settings.maxModelLen),
      difference: tokenDifference(table, records, rows),
    },
    metrics: parts.metrics,
    partial: parts.partial,
    late: isLate
      ? `p99 of the driver's lateness is ${lateness.p99.toFixed(2)} ms, at most ${maxLatenessMs} ms allowed`
      : null,
  };
}

function settingKeys(settings: TraceServer): Record<string, string | number> {
  const said = Object.keys(SERVER_SCHEMA.entries).map((key) => [key, settings[camelCase(key) as keyof TraceServer]]);
  return Object.fromEntries(said.filter(([, value]) => value !== undefined));
}

function spread(rows: Int32Array, column: Float64Array): LatencySpread {
  return spreadOfSorted(Float64Array.from(rows, (row) => column[row]!).sort());
}

function problemCounts({ problems }: RequestRecords, rows: Int32Array): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const row of rows) {
    const found = problems.get(row);
    if (found !== undefined) counts[found.class] = (counts[found.class] ?? 0) + 1;
  }
  return counts;
}

function tooLong({ inputTokens, outputTokens }: RequestTable, rows: Int32Array, most: number | undefined): number {
  if (most === undefined) return 0;
  return rows.filter((row) => inputTokens[row]! + outputTokens[row]! > most).length;
}

function tokenDifference(table: RequestTable, records: RequestRecords, rows: Int32Array): TokenDifference {
  const differences = Float64Array.from(
    rows.filter((row) => records.inputTokens[row]! >= 0),
    (row) => records.inputTokens[row]! - table.inputTokens[row]!,
  ).sort();
  return {
    compared: differences.length,
    exact: differences.filter((tokens) => tokens === 0).length,
    mean: mean(differences),
    min: differences[0] ?? 0,
    p50: percentile(differences, 50),
    max: differences.at(-1) ?? 0,
  };
}
