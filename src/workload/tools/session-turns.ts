import type { RequestTable } from '../request-table.js';

/** The turns of all sessions, session by session. */
export interface SessionTurns {
  /** By session index: where its turns begin in `rows`; they end where the next one's begin. */
  begin: Int32Array;
  /** Rows of the table: within a session by turn, then time, then place in the table. */
  rows: Int32Array;
}

/** Groups a trace's requests by session. Turns may be numbered in any way; requests outside sessions are left out. */
export function sessionTurns(table: RequestTable): SessionTurns {
  const { arrivalUs, count, round, session } = table;
  const sessions = table.sessions.size;
  const begin = new Int32Array(sessions + 1);
  for (let row = 0; row < count; row++) if (session[row]! > 0) begin[session[row]! + 1]!++;
  for (let s = 1; s <= sessions; s++) begin[s]! += begin[s - 1]!;
  const next = begin.slice();
  const rows = new Int32Array(begin[sessions]!);
  for (let row = 0; row < count; row++) if (session[row]! > 0) rows[next[session[row]!]!++] = row;
  const byTurn = (a: number, b: number) => round[a]! - round[b]! || arrivalUs[a]! - arrivalUs[b]! || a - b;
  for (let s = 1; s < sessions; s++) {
    if (begin[s + 1]! - begin[s]! > 1) rows.subarray(begin[s]!, begin[s + 1]!).sort(byTurn);
  }
  return { begin, rows };
}
