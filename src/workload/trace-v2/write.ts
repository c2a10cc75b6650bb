import { arrivalOrder } from '../arrival-order.js';
import { OBSERVED_OUTCOMES, type Observed } from '../observed.js';
import { type RequestTable, ROW_STREAMING, sourceIdOf } from '../request-table.js';
import type { Trace } from '../trace.js';
import { writeBlockList } from './data/block-list.js';
import { csvField } from './data/csv-file.js';
import { fixedColumns } from './data/layout.js';
import { type TraceFacts, writeTraceHeader } from './header/write-header.js';
import { SENT_TRAILING, sentEnding, sentTrailing } from './write-sent.js';

export { type TraceFacts, writeTraceHeader };

/** The outcome of each request, by row of the table. NaN: did not happen. */
export interface TraceOutcomes {
  ttftUs: ArrayLike<number>;
  /** Sum of the gaps between tokens so far. */
  itlSumUs: ArrayLike<number>;
  /** For how long the client held the request back after it was due; absent: not at all. */
  clientWaitUs?: ArrayLike<number>;
  status(row: number): 'ok' | 'timeout' | 'incomplete' | '';
}

const CHUNK_CHARACTERS = 64 * 1024;

/**
 * The simulated requests as CSV text, in chunks, in order of arrival, renumbered. Reads back as the same requests; the
 * turns of a growing session are written with the whole length of their prompts.
 */
export function writeTraceData(table: RequestTable, outcomes: TraceOutcomes): Generator<string, void, undefined> {
  const { clientWaitUs } = outcomes;
  const { arrivalUs, count } = table;
  const wantedUs =
    clientWaitUs === undefined
      ? arrivalUs
      : Float64Array.from({ length: count }, (_, row) => arrivalUs[row]! - clientWaitUs[row]!);
  const hasPauses = table.pauseUs.subarray(0, table.count).some((us) => us > 0);
  return rows(table, {
    outcomes,
    epochUs: 0,
    wantedUs,
    ...(hasPauses ? { thinkTimeUs: (row: number) => table.pauseUs[row]! } : {}),
    relativeDeadlines: false,
    renumber: true,
  });
}

/**
 * A trace as a TraceV2: the text of its header and of its data, in chunks, in order of arrival. Reads back as the same
 * requests under the same ids, with the measurements of an observed trace.
 * @param facts further content of its header; @param epochUs origin of send and response times
 */
export function writeTrace(
  trace: Trace,
  facts: Partial<TraceFacts> = {},
  epochUs = 0,
): { header: string; data: Generator<string, void, undefined> } {
  const { header, observed, table, thinkTimeUs, wantedUs } = trace;
  const data = rows(table, {
    outcomes: observed === undefined ? null : observedOutcomes(observed),
    ...(observed?.sent === undefined ? {} : { observed }),
    epochUs,
    wantedUs,
    ...(thinkTimeUs === null ? {} : { thinkTimeUs: (row: number) => thinkTimeUs[row]! }),
    relativeDeadlines: header.mode === 'real',
    renumber: false,
  });
  return { header: writeTraceHeader({ ...header, blockTokens: table.blocks?.blockTokens, ...facts }), data };
}

function observedOutcomes({ e2eUs, outcome, ttftUs }: Observed): TraceOutcomes {
  return {
    ttftUs,
    itlSumUs: e2eUs.map((us, row) => us - ttftUs[row]!),
    status: (row) => OBSERVED_OUTCOMES[outcome[row]!]!,
  };
}

interface RowFacts {
  outcomes: TraceOutcomes | null;
  /** Further measurements of the sender. */
  observed?: Observed;
  epochUs: number;
  wantedUs: ArrayLike<number>;
  /** The pause before each row; without it the trace has no such column. */
  thinkTimeUs?: (row: number) => number;
  /** Deadlines count from the arrival. */
  relativeDeadlines: boolean;
  /** Ids are places in the order of arrival instead of the table's. */
  renumber: boolean;
}

function* rows(table: RequestTable, facts: RowFacts): Generator<string, void, undefined> {
  const { blocks, kinds } = table;
  const { epochUs, observed, outcomes, thinkTimeUs, wantedUs } = facts;
  const hasSloTarget = table.sloTargetUs.subarray(0, table.count).some((us) => us > 0);
  const clients = table.clients.names().map(csvField);
  const tenants = table.tenants.names().map(csvField);
  const sloClasses = table.sloClasses.names().map(csvField);
  const sessions = table.sessions.names().map(csvField);
  const groups = table.prefixGroups.names().map(csvField);
  const models = table.models.names().map(csvField);
  const hasPriority = observed !== undefined && sloClasses.length > 1;
  const columns = fixedColumns(hasPriority, hasSloTarget);
  if (observed !== undefined) columns.push(...SENT_TRAILING);
  if (thinkTimeUs !== undefined) columns.push('think_time_us');
  if (blocks !== null) columns.push('block_hashes');
  let text = `${columns.join(',')}\n`;
  let position = 0;
  for (const row of arrivalOrder(table)) {
    const arrival = table.arrivalUs[row]!;
    const group = table.prefixGroup[row]!;
    const prefix = table.prefixTokens[group]!;
    const ttft = outcomes?.ttftUs[row] ?? Number.NaN;
    const sendUs = epochUs + arrival;
    const first = Number.isNaN(ttft) ? 0 : sendUs + ttft;
    const last = Number.isNaN(ttft) ? 0 : first + (outcomes!.itlSumUs[row]! || 0);
    const streaming = (table.flags[row]! & ROW_STREAMING) !== 0;
    const id = facts.renumber ? position++ : sourceIdOf(table, row);
    text += `${id},${clients[table.client[row]!]},${tenants[table.tenant[row]!]},${sloClasses[table.sloClass[row]!]},`;
    if (hasPriority) text += `${observed.sent!.priority[row]},`;
    text += `${sessions[table.session[row]!]},${table.round[row]},${groups[group]},${prefix},${streaming},`;
    text += `${table.inputTokens[row]! - prefix},${table.outputTokens[row]},`;
    if (kinds === null) text += '0,0,0,0,0,';
    else
      text += `${kinds.text[row]},${kinds.image[row]},${kinds.audio[row]},${kinds.video[row]},${kinds.reasonRatio[row]},`;
    text += `${models[table.model[row]!]},${deadline(table, row, facts)},${hasSloTarget ? `${table.sloTargetUs[row]},` : ''}`;
    text += `${Math.max(0, observed?.sent?.serverInputTokens[row] ?? 0)},${wantedUs[row]},${sendUs},${first},${last},`;
    const status = outcomes?.status(row) ?? '';
    text += observed === undefined ? `0,${status},,` : sentEnding(observed, row, status) + sentTrailing(observed, row);
    if (thinkTimeUs !== undefined) text += `,${thinkTimeUs(row)}`;
    if (blocks !== null) text += `,${writeBlockList(blocks, row)}`;
    text += '\n';
    if (text.length >= CHUNK_CHARACTERS) {
      yield text;
      text = '';
    }
  }
  yield text;
}

function deadline({ arrivalUs, deadlineUs }: RequestTable, row: number, facts: RowFacts): number {
  const us = deadlineUs[row]!;
  if (us === 0) return 0;
  // Past due on arrival either way, but a deadline before the due time would not read back.
  return facts.relativeDeadlines ? Math.max(1, us - arrivalUs[row]!) : Math.max(facts.wantedUs[row]!, us);
}
