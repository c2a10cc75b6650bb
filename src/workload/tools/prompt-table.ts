import { headerInvalid, sessionInvalid } from '../errors.js';
import { type RequestTable, ROW_GROWS_CONTEXT } from '../request-table.js';
import { TraceSessions } from '../sessions/trace-sessions.js';
import type { Trace } from '../trace.js';
import { selectRows } from './select-rows.js';

const MAX_TOKENS = 2 ** 31 - 1;

/** Whether a session's prompt starts with the whole session so far, and its rows hold only what is new. */
export function traceGrowsContext({ header }: Trace): boolean {
  if (header.sessionContextGrowth === 'accumulate') return true;
  if (['', 'included'].includes(header.sessionContextGrowth)) return false;
  throw headerInvalid(
    header.place('session_context_growth'),
    `unknown value '${header.sessionContextGrowth}'`,
    "write 'accumulate' or 'included', or leave it out",
  );
}

/**
 * The requests of a trace with their complete prompts, same rows: where context grows, each turn's prompt is the one
 * before, its response without the last token, and what the row adds. Nothing else changes; most traces need no change.
 */
export function promptTable(trace: Trace): RequestTable {
  if (!traceGrowsContext(trace) || trace.table.sessions.size === 1) return trace.table;
  const sessions = new TraceSessions(trace);
  const { table } = selectRows(
    trace,
    Int32Array.from({ length: trace.table.count }, (_, row) => row),
  );
  const { flags, inputTokens, outputTokens, prefixGroup, prefixTokens } = table;
  for (let session = 1; session < trace.table.sessions.size; session++) {
    const first = sessions.row(session, 0);
    let whole = prefixTokens[prefixGroup[first]!]!;
    let past = whole;
    for (let round = 0; round < sessions.rounds(session); round++) {
      const row = sessions.row(session, round);
      const fresh = inputTokens[row]! - prefixTokens[prefixGroup[row]!]!;
      whole += fresh + outputTokens[row]!;
      if (whole > MAX_TOKENS) throw tooLong(trace, session, first);
      inputTokens[row] = past + fresh;
      past = inputTokens[row]! + Math.max(0, outputTokens[row]! - 1);
      prefixGroup[row] = prefixGroup[first]!;
      flags[row]! |= ROW_GROWS_CONTEXT;
    }
    table.contextTokens[table.session[first]!] = whole;
  }
  return table;
}

function tooLong(trace: Trace, session: number, row: number): Error {
  const problem = `session '${trace.table.sessions.name(session)}' grows beyond ${MAX_TOKENS} tokens`;
  return sessionInvalid(trace.place(row, 'session_id'), problem, `give at most ${MAX_TOKENS}`);
}
