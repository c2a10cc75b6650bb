import { headerInvalid, sessionInvalid } from '../errors.js';
import { RequestTable, ROW_FOLLOW_UP, ROW_GROWS_CONTEXT, ROW_STREAMING, setSourceId } from '../request-table.js';
import type { Trace } from '../trace.js';
import type { SessionDriver, Workload } from '../workload.js';
import { copyContent, copyRow, copyTableNames } from './copy-row.js';
import { pausesBeforeRounds } from './pauses.js';
import type { ThinkTime } from './think-time.js';
import { TraceSessions } from './trace-sessions.js';

/** Later turns of a session may take this long, where nothing else is known. */
const FOLLOW_UP_TIMEOUT_US = 300_000_000;
const MAX_TOKENS = 2 ** 31 - 1;

/**
 * Replays a trace's sessions in a closed loop: each turn arrives a pause after the response to the one before. The
 * trace is left unchanged, so that it can be replayed again.
 * @param timeoutUs of later turns, 0 for none; null: as an observed trace recorded it, else five minutes
 */
export function closedLoopWorkload(
  trace: Trace,
  thinkTime: ThinkTime | null,
  timeoutUs: number | null = null,
): Workload {
  const growth = trace.header.sessionContextGrowth;
  if (!['', 'accumulate', 'included'].includes(growth)) {
    throw headerInvalid(
      trace.header.place('session_context_growth'),
      `unknown value '${growth}'`,
      "write 'accumulate' or 'included', or leave it out",
    );
  }
  if (growth === 'accumulate' && trace.table.blocks !== null) {
    throw headerInvalid(
      trace.header.place('session_context_growth'),
      'the trace has recorded blocks, which define every prompt',
      'leave session_context_growth out',
    );
  }
  const driver = new TraceSessionDriver(trace, growth === 'accumulate', thinkTime, timeoutUs);
  return { table: driver.firstTurns(), sessions: driver };
}

export class TraceSessionDriver implements SessionDriver {
  readonly #trace: Trace;
  readonly #grows: boolean;
  readonly #sessions: TraceSessions;
  /** By row of the trace: the pause before it. */
  readonly #pauseUs: Float64Array;
  readonly #timeoutUs: number | null;
  #followUps = 0;

  constructor(trace: Trace, grows: boolean, thinkTime: ThinkTime | null, timeoutUs: number | null = null) {
    this.#trace = trace;
    this.#timeoutUs = timeoutUs;
    this.#grows = grows;
    this.#sessions = new TraceSessions(trace);
    this.#pauseUs = pausesBeforeRounds(trace, this.#sessions, thinkTime);
  }

  /** A new table with what is known up front: the first turn of every session, then the requests outside sessions. */
  firstTurns(): RequestTable {
    const from = this.#trace.table;
    const table = new RequestTable(from.count);
    copyTableNames(from, table);
    table.blocks = from.blocks?.withoutRows() ?? null;
    for (let session = 1; session < from.sessions.size; session++) {
      const row = copyRow(from, this.#sessions.row(session, 0), table);
      if (!this.#grows) continue;
      table.flags[row]! |= ROW_GROWS_CONTEXT;
      table.contextTokens[session] = this.#wholeContext(session);
    }
    for (let row = 0; row < from.count; row++) if (from.session[row] === 0) copyRow(from, row, table);
    return table;
  }

  left(table: RequestTable, row: number, completed: boolean, atUs: number, horizonUs: number): number {
    const session = table.session[row]!;
    if (!completed || session === 0) return -1;
    const round = table.round[row]! + 1;
    const record = this.#sessions.row(session, round);
    if (record < 0) return -1;
    const arrivalUs = atUs + this.#pauseUs[record]!;
    if (arrivalUs > horizonUs) return -1;

    const next = table.append();
    const from = this.#trace.table;
    const past = this.#grows
      ? table.inputTokens[row]! + Math.max(0, table.outputTokens[row]! - 1)
      : table.prefixTokens[table.prefixGroup[row]!]!;
    setSourceId(table, next, ++this.#followUps);
    table.arrivalUs[next] = arrivalUs;
    table.inputTokens[next] = past + this.#freshTokens(record);
    table.outputTokens[next] = from.outputTokens[record]!;
    const timeoutUs = this.#timeoutOf(record);
    table.deadlineUs[next] = timeoutUs > 0 ? arrivalUs + timeoutUs : 0;
    table.sloClass[next] = table.sloClass[row]!;
    table.tenant[next] = table.tenant[row]!;
    table.model[next] = table.model[row]!;
    table.client[next] = table.client[row]!;
    table.prefixGroup[next] = table.prefixGroup[row]!;
    table.session[next] = session;
    table.round[next] = round;
    copyContent(from, record, table, next);
    const kept = from.flags[record]! & (ROW_STREAMING | ROW_GROWS_CONTEXT);
    table.flags[next] = kept | ROW_FOLLOW_UP | (this.#grows ? ROW_GROWS_CONTEXT : 0);
    return next;
  }

  #timeoutOf(record: number): number {
    if (this.#timeoutUs !== null) return this.#timeoutUs;
    const { header, table } = this.#trace;
    const recordedUs = table.deadlineUs[record]! - table.arrivalUs[record]!;
    return header.mode === 'real' && recordedUs > 0 ? recordedUs : FOLLOW_UP_TIMEOUT_US;
  }

  #freshTokens(record: number): number {
    const { inputTokens, prefixGroup, prefixTokens } = this.#trace.table;
    return inputTokens[record]! - prefixTokens[prefixGroup[record]!]!;
  }

  /** The longest prompt of the session, response included. */
  #wholeContext(session: number): number {
    const { outputTokens, prefixGroup, prefixTokens } = this.#trace.table;
    let tokens = prefixTokens[prefixGroup[this.#sessions.row(session, 0)]!]!;
    for (let round = 0; round < this.#sessions.rounds(session); round++) {
      const record = this.#sessions.row(session, round);
      tokens += this.#freshTokens(record) + outputTokens[record]!;
    }
    if (tokens <= MAX_TOKENS) return tokens;
    throw sessionInvalid(
      this.#trace.place(this.#sessions.row(session, 0), 'session_id'),
      `session '${this.#trace.table.sessions.name(session)}' grows to ${tokens} tokens`,
      `give at most ${MAX_TOKENS}`,
    );
  }
}
