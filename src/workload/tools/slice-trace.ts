import { arrivalOrder } from '../arrival-order.js';
import { type RequestTable, ROW_GROWS_CONTEXT } from '../request-table.js';
import type { Trace } from '../trace.js';
import { promptTable, traceGrowsContext } from './prompt-table.js';
import { firstArrival, retime } from './retime.js';
import { selectRows } from './select-rows.js';
import { type SessionTurns, sessionTurns } from './session-turns.js';

/** The part of a trace to keep. The fields are applied in this order. */
export interface Slice {
  /** From here on, counted from the first arrival; the part's times count from here. */
  fromUs?: number;
  /** Up to here, exclusive. */
  toUs?: number;
  /** The first sessions that are left, with all the turns that are left, and nothing outside sessions. */
  sessions?: number;
  /** The first requests that are left. */
  first?: number;
}

/**
 * A part of a trace, in order of time; null when it is empty. Sessions are cut where the part begins and ends: the
 * remaining turns are numbered from 0 again and, where context grows, the first of them includes the context before.
 */
export function sliceTrace(trace: Trace, { fromUs, toUs, sessions, first }: Slice): Trace | null {
  const { table } = trace;
  const origin = firstArrival(trace);
  const from = origin + (fromUs ?? 0);
  const to = origin + (toUs ?? Number.POSITIVE_INFINITY);
  let rows: Int32Array = arrivalOrder(table).filter(
    (row) => table.arrivalUs[row]! >= from && table.arrivalUs[row]! < to,
  );
  if (sessions !== undefined) rows = ofFirstSessions(trace, rows, sessions);
  if (first !== undefined) rows = rows.subarray(0, first);
  if (rows.length === 0) return null;

  const part = selectRows({ ...trace, table: promptTable(trace) }, rows);
  const turns = sessionTurns(part.table);
  if (traceGrowsContext(trace)) sayWhatIsNew(part.table, turns);
  renumber(part.table, turns);
  if (fromUs === undefined) return part;
  return retime(
    part,
    part.table.arrivalUs.map((us) => us - from),
  );
}

function ofFirstSessions({ table }: Trace, rows: Int32Array, sessions: number): Int32Array {
  const kept = new Set<number>();
  return rows.filter((row) => {
    const session = table.session[row]!;
    if (session > 0 && kept.size < sessions) kept.add(session);
    return kept.has(session);
  });
}

/**
 * Turns the whole prompts of growing sessions back into what rows hold: what is new since the turn before, if that is
 * left.
 */
function sayWhatIsNew(table: RequestTable, { begin, rows }: SessionTurns): void {
  const { flags, inputTokens, outputTokens, prefixGroup, prefixTokens } = table;
  for (let session = 1; session + 1 < begin.length; session++) {
    let past = 0;
    for (let i = begin[session]!; i < begin[session + 1]!; i++) {
      const row = rows[i]!;
      const prompt = inputTokens[row]!;
      if (i > begin[session]!) inputTokens[row] = prompt - past + prefixTokens[prefixGroup[row]!]!;
      past = prompt + Math.max(0, outputTokens[row]! - 1);
      flags[row]! &= ~ROW_GROWS_CONTEXT;
    }
  }
}

function renumber(table: RequestTable, { begin, rows }: SessionTurns): void {
  for (let session = 1; session + 1 < begin.length; session++) {
    for (let i = begin[session]!; i < begin[session + 1]!; i++) table.round[rows[i]!] = i - begin[session]!;
  }
}
