import { sessionInvalid } from '../errors.js';
import type { RequestTable } from '../request-table.js';
import type { Trace } from '../trace.js';

/** The sessions of a trace: which rows are their turns, in order. */
export class TraceSessions {
  readonly #begin: Int32Array;
  readonly #rows: Int32Array;

  /** Turns must be numbered 0, 1, 2, ... within each session, in any order in the file. */
  constructor(trace: Trace) {
    const { table } = trace;
    const { count, round, session } = table;
    const begin = new Int32Array(table.sessions.size + 1);
    for (let row = 0; row < count; row++) if (session[row]! > 0) begin[session[row]! + 1]!++;
    for (let s = 1; s < begin.length; s++) begin[s]! += begin[s - 1]!;
    const rows = new Int32Array(begin[begin.length - 1]!).fill(-1);
    for (let row = 0; row < count; row++) {
      const s = session[row]!;
      if (s === 0) continue;
      const slot = begin[s]! + round[row]!;
      const name = table.sessions.name(s);
      if (slot >= begin[s + 1]!) {
        throw sessionInvalid(
          trace.place(row, 'round_index'),
          `session '${name}' has a round ${round[row]} but no round ${firstMissing(table, s)}`,
          'number its rounds 0, 1, 2, ...',
        );
      }
      if (rows[slot]! >= 0) {
        throw sessionInvalid(
          trace.place(row, 'round_index'),
          `session '${name}' has round ${round[row]} twice, first at ${trace.place(rows[slot]!, 'round_index')}`,
          'number its rounds 0, 1, 2, ...',
        );
      }
      rows[slot] = row;
    }
    this.#begin = begin;
    this.#rows = rows;
  }

  /** The trace's row of a turn, or -1 when the session has no such turn. */
  row(session: number, round: number): number {
    const slot = this.#begin[session]! + round;
    return slot < this.#begin[session + 1]! ? this.#rows[slot]! : -1;
  }

  rounds(session: number): number {
    return this.#begin[session + 1]! - this.#begin[session]!;
  }
}

function firstMissing(table: RequestTable, session: number): number {
  const rounds = new Set<number>();
  for (let row = 0; row < table.count; row++) if (table.session[row] === session) rounds.add(table.round[row]!);
  let missing = 0;
  while (rounds.has(missing)) missing++;
  return missing;
}
