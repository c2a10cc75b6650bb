import { OBSERVED_OUTCOMES, type Observed, type SentFacts } from '../../workload/observed.js';
import { PromptBlocks } from '../../workload/prompt-blocks.js';
import {
  type RequestTable,
  ROW_FOLLOW_UP,
  ROW_GROWS_CONTEXT,
  ROW_STREAMING,
  setSourceId,
  sourceIdOf,
} from '../../workload/request-table.js';
import { selectRows } from '../../workload/tools/select-rows.js';
import type { Trace } from '../../workload/trace.js';
import type { RequestRecords } from './send/request-records.js';

const OUTCOME = Object.fromEntries(OBSERVED_OUTCOMES.map((name, i) => [name, i]));

export interface RecordedRows {
  table: RequestTable;
  records: RequestRecords;
  /** In the order in which they were sent. */
  rows: Int32Array;
  isStream: boolean;
  /** The priority that was sent with a row, and its request id. */
  urgency: (row: number) => number | null;
  xRequestId: (row: number) => string;
  /** Microseconds until the client gave up on a request without a time-out of its own, or with a longer one; Infinity: never. */
  timeoutUs: number;
}

/**
 * The requests that were sent, as a trace: they arrive at their send time, and have the lengths that the server
 * counted. Ids are those of the plan; later turns follow after the greatest of them.
 */
export function observedTrace(recorded: RecordedRows, ids: Float64Array): Trace {
  const { isStream, records, rows, table, timeoutUs } = recorded;
  const plan: Trace = {
    format: 'trace-v2',
    header: { mode: 'real', sessionContextGrowth: '', goodputTargets: {}, place: (key) => `the plan (${key})` },
    table,
    wantedUs: table.arrivalUs.slice(0, table.count),
    thinkTimeUs: table.pauseUs.some((us) => us > 0) ? table.pauseUs.slice(0, table.count) : null,
    unsorted: false,
    place: (row, column) => `row ${row} (${column})`,
  };
  const trace = selectRows(plan, rows);
  const { table: sent } = trace;
  const rounds = new Int32Array(sent.sessions.size);
  let grows = false;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    const plannedUs = sent.arrivalUs[i]!;
    setSourceId(sent, i, ids[i]!);
    sent.arrivalUs[i] = Math.round(records.sentUs[row]!);
    const ownUs = sent.deadlineUs[i]! > 0 ? Math.max(1, sent.deadlineUs[i]! - plannedUs) : timeoutUs;
    const patienceUs = Math.min(ownUs, timeoutUs);
    sent.deadlineUs[i] = patienceUs < Number.POSITIVE_INFINITY ? sent.arrivalUs[i]! + Math.round(patienceUs) : 0;
    const prefix = sent.prefixTokens[sent.prefixGroup[i]!]!;
    if (records.inputTokens[row]! > 0) sent.inputTokens[i] = Math.max(prefix, records.inputTokens[row]!);
    if (records.isComplete[row] === 1 && records.outputTokens[row]! > 0)
      sent.outputTokens[i] = records.outputTokens[row]!;
    if (sent.session[i]! > 0) sent.round[i] = rounds[sent.session[i]!]!++;
    if ((sent.flags[i]! & ROW_GROWS_CONTEXT) !== 0) {
      grows = true;
      const chat = sent.session[i]!;
      const reach = sent.inputTokens[i]! + sent.outputTokens[i]!;
      sent.contextTokens[chat] = Math.max(sent.contextTokens[chat] ?? 0, reach);
    }
    sent.flags[i]! &= ~(ROW_FOLLOW_UP | ROW_STREAMING);
    if (isStream) sent.flags[i]! |= ROW_STREAMING;
  }
  if (sent.blocks !== null) sent.blocks = fittingBlocks(sent.blocks, sent);
  return {
    ...trace,
    header: { ...trace.header, sessionContextGrowth: grows ? 'included' : '' },
    observed: observedOf(recorded, sent),
  };
}

/** By recorded row: its new number. */
export function recordedIds(table: RequestTable, rows: Int32Array): Float64Array {
  let next = 0;
  for (let row = 0; row < table.count; row++) {
    if ((table.flags[row]! & ROW_FOLLOW_UP) === 0) next = Math.max(next, sourceIdOf(table, row) + 1);
  }
  return Float64Array.from(rows, (row) => {
    if ((table.flags[row]! & ROW_FOLLOW_UP) === 0) return sourceIdOf(table, row);
    return next - 1 + sourceIdOf(table, row);
  });
}

/** A prompt that got shorter than planned has fewer blocks. */
function fittingBlocks(blocks: PromptBlocks, { count, inputTokens }: RequestTable): PromptBlocks {
  const fitting = new PromptBlocks(blocks.blockTokens);
  for (let row = 0; row < count; row++) {
    const most = Math.min(blocks.blocksOf(row), Math.ceil(inputTokens[row]! / blocks.blockTokens));
    for (let i = 0; i < most; i++) fitting.add(blocks.block(row, i));
    fitting.endRow(row);
  }
  return fitting;
}

function observedOf({ records, rows, table, urgency, xRequestId }: RecordedRows, sent: RequestTable): Observed {
  const after = (column: Float64Array) =>
    Float64Array.from(rows, (row, i) => Math.max(0, Math.round(column[row]!) - sent.arrivalUs[i]!));
  const texts = (text: (row: number) => string | undefined) => Array.from(rows, (row) => text(row) ?? '');
  const numbers = (column: ArrayLike<number>) => Float64Array.from(rows, (row) => Math.round(column[row]!));
  const facts: SentFacts = {
    serverInputTokens: numbers(records.inputTokens),
    serverOutputTokens: numbers(records.outputTokens),
    plannedInputTokens: numbers(table.inputTokens),
    plannedOutputTokens: numbers(table.outputTokens),
    chunks: numbers(records.chunks),
    latenessUs: numbers(records.latenessUs),
    capWaitUs: numbers(records.capWaitUs),
    connectUs: numbers(records.connectUs),
    priority: Float64Array.from(rows, (row) => urgency(row) ?? 0),
    problem: texts((row) => records.problems.get(row)?.class),
    message: texts((row) => records.problems.get(row)?.message),
    finishReason: texts((row) => records.finishReason[row]),
    xRequestId: texts(xRequestId),
  };
  return {
    dispatchUs: new Float64Array(rows.length),
    ttftUs: after(records.firstUs),
    e2eUs: after(records.lastUs),
    cachedTokens: Int32Array.from(rows, (row) => records.cachedTokens[row]!),
    outcome: Uint8Array.from(rows, (row) => OUTCOME[outcomeOf(records, row)]!),
    sent: facts,
  };
}

function outcomeOf(records: RequestRecords, row: number): (typeof OBSERVED_OUTCOMES)[number] {
  if (records.isComplete[row] === 1) return 'ok';
  const { class: kind } = records.problems.get(row)!;
  return kind === 'hang' || kind === 'timeout' ? 'timeout' : 'incomplete';
}
