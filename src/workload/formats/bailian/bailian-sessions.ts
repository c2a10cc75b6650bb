import { sessionInvalid } from '../../errors.js';
import type { RequestTable } from '../../request-table.js';
import type { Trace } from '../../trace.js';

/** Which session each row belongs to, when only its predecessor is recorded: that of the predecessor. */
export class ParentChain {
  readonly #table: RequestTable;
  /** By row: its own id and that of the turn before it, null for the first turn of a session. */
  readonly #ids: string[] = [];
  readonly #parents: (string | null)[] = [];

  constructor(table: RequestTable) {
    this.#table = table;
  }

  /** Rows come in order. A row whose session is known has `table.session` already. */
  add(id: string, parent: string | null): void {
    this.#ids.push(id);
    this.#parents.push(parent);
  }

  /**
   * Gives every row without a session the session of its predecessor; a first request begins one under its own id.
   * Returns the number of predecessors that are not in the file: the session then has the predecessor's id.
   */
  resolve(place: Trace['place']): number {
    const { count, session, sessions } = this.#table;
    const rowOf = this.#rowsById(place);
    const seen = new Uint8Array(count);
    let missing = 0;
    for (let row = 0; row < count; row++) {
      const path: number[] = [];
      let chat = 0;
      for (let at = row; chat === 0; ) {
        chat = session[at]!;
        if (chat > 0) break;
        if (seen[at] === 1) throw this.#circle(at, place);
        seen[at] = 1;
        path.push(at);
        const parent = this.#parents[at]!;
        if (parent === null) {
          chat = sessions.index(this.#ids[at]!);
        } else {
          const before = rowOf.get(parent);
          if (before !== undefined) {
            at = before;
          } else {
            missing++;
            chat = sessions.index(parent);
          }
        }
      }
      for (const passed of path) session[passed] = chat;
    }
    return missing;
  }

  #rowsById(place: Trace['place']): Map<string, number> {
    const rows = new Map<string, number>();
    this.#ids.forEach((id, row) => {
      const first = rows.get(id);
      if (first !== undefined) {
        throw sessionInvalid(
          place(row, 'chat_id'),
          `chat_id ${id} was used before, at ${place(first, 'chat_id')}`,
          'give every request its own chat_id, or all a session_id',
        );
      }
      rows.set(id, row);
    });
    return rows;
  }

  #circle(row: number, place: Trace['place']): Error {
    return sessionInvalid(
      place(row, 'parent_chat_id'),
      `the requests before chat_id ${this.#ids[row]} lead back to it`,
      'give the first request of every session the parent_chat_id -1',
    );
  }
}
