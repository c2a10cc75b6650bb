import type { RequestTable } from '../../request-table.js';

/**
 * Numbers the turns of every session 0, 1, 2, ... in order of `turns`, where recorded, then of time, then of the file:
 * recorders begin at 1, leave numbers out or have none. Returns the rows of all sessions, session by session, turn by
 * turn.
 */
export function numberRounds(table: RequestTable, turns: ArrayLike<number> | null): Int32Array {
  const { arrivalUs, count, round, session } = table;
  const begin = new Int32Array(table.sessions.size + 1);
  for (let row = 0; row < count; row++) if (session[row]! > 0) begin[session[row]! + 1]!++;
  for (let s = 1; s < begin.length; s++) begin[s]! += begin[s - 1]!;
  const rows = new Int32Array(begin[begin.length - 1]!);
  const next = begin.slice();
  for (let row = 0; row < count; row++) if (session[row]! > 0) rows[next[session[row]!]!++] = row;

  const order = (a: number, b: number) =>
    (turns === null ? 0 : turns[a]! - turns[b]!) || arrivalUs[a]! - arrivalUs[b]! || a - b;
  for (let s = 1; s < table.sessions.size; s++) {
    const chat = rows.subarray(begin[s], begin[s + 1]);
    for (let i = 1; i < chat.length; i++) {
      if (order(chat[i - 1]!, chat[i]!) <= 0) continue;
      chat.sort(order);
      break;
    }
    for (let i = 0; i < chat.length; i++) round[chat[i]!] = i;
  }
  return rows;
}

/**
 * How long each turn waited after the response before it had ended.
 * @param sessions as `numberRounds` gives them
 * @param endUs by row: when the response ended, on the axis of the arrivals
 */
export function pausesAfterResponses(table: RequestTable, chats: Int32Array, endUs: ArrayLike<number>): Float64Array {
  const pauses = new Float64Array(table.count);
  for (let i = 1; i < chats.length; i++) {
    const row = chats[i]!;
    if (table.round[row]! > 0) pauses[row] = Math.max(0, table.arrivalUs[row]! - endUs[chats[i - 1]!]!);
  }
  return pauses;
}
