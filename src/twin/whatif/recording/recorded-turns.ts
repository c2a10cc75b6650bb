import type { Observed } from '../../../workload/observed.js';
import { RequestTable } from '../../../workload/request-table.js';
import { copyRow, copyTableNames } from '../../../workload/sessions/copy-row.js';
import type { SessionDriver } from '../../../workload/workload.js';
import { followsSchedule } from './follows-schedule.js';

/** Turns that begin after the response before them has ended: with fewer, a session is no conversation. */
const LEAST_FOLLOWING = 0.95;

/** Requests that a client sent after it had the response to an earlier one: another fleet changes when they arrive. */
export interface RecordedTurns {
  /** By row: the request that follows it, -1 for none. */
  readonly next: Int32Array;
  /** By row: how long after that response it arrived; NaN for a request that follows none. */
  readonly pauseUs: Float64Array;
  /** Each arrives when it was recorded, however long responses take, but never before that which it follows. */
  readonly isScheduled: boolean;
}

/**
 * Finds them by session, where the turns of a session come one after the other; a session whose requests overlap, such as all
 * requests of one user, is no conversation. Of other requests, and of recordings without sessions, a prompt that repeats
 * an earlier one with its response follows it.
 * @param trace its responses are linked (`linkResponses`)
 * @returns null where no request follows another
 */
export function recordedTurns({ observed, table }: { observed: Observed; table: RequestTable }): RecordedTurns | null {
  const next = new Int32Array(table.count).fill(-1);
  const pauseUs = new Float64Array(table.count).fill(Number.NaN);
  const endUs = (row: number) => table.arrivalUs[row]! + (observed.e2eUs[row] || 0);
  const pauses: number[] = [];
  const responses: number[] = [];
  const follows = (row: number, by: number) => {
    next[row] = by;
    pauseUs[by] = table.arrivalUs[by]! - endUs(row);
    pauses.push(pauseUs[by]!);
    responses.push(observed.e2eUs[row] || 0);
  };
  const isConversation = conversations(table, endUs);
  /** By session: its latest turn. */
  const latest = new Int32Array(table.sessions.size).fill(-1);
  for (let row = 0; row < table.count; row++) {
    const session = table.session[row]!;
    if (isConversation[session] === 1) {
      const before = latest[session]!;
      if (before >= 0 && table.arrivalUs[row]! >= endUs(before)) follows(before, row);
      latest[session] = row;
      continue;
    }
    const by = table.blocks?.continuation(row) ?? -1;
    if (by >= 0 && isConversation[table.session[by]!] === 0 && table.arrivalUs[by]! >= endUs(row)) follows(row, by);
  }
  return pauses.length === 0 ? null : { next, pauseUs, isScheduled: followsSchedule(pauses, responses) };
}

/** By session: 1 where its turns follow each other. Requests without a session are in session 0, which is none. */
function conversations(table: RequestTable, endUs: (row: number) => number): Uint8Array {
  const { arrivalUs, count, session, sessions } = table;
  const latest = new Int32Array(sessions.size).fill(-1);
  const turns = new Int32Array(sessions.size);
  const following = new Int32Array(sessions.size);
  for (let row = 0; row < count; row++) {
    const own = session[row]!;
    if (own === 0) continue;
    const before = latest[own]!;
    if (before >= 0) {
      turns[own]!++;
      if (arrivalUs[row]! >= endUs(before)) following[own]!++;
    }
    latest[own] = row;
  }
  return Uint8Array.from(turns, (all, own) => (all > 0 && following[own]! >= LEAST_FOLLOWING * all ? 1 : 0));
}

/** Sends recorded requests: those that follow a response arrive a pause after it, as recorded, or when they were recorded. */
export class RecordedTurnDriver implements SessionDriver {
  /** By row of the table: the recorded row. */
  readonly records: Int32Array;
  readonly #from: RequestTable;
  readonly #turns: RecordedTurns;

  constructor(from: RequestTable, turns: RecordedTurns) {
    this.records = new Int32Array(from.count);
    this.#from = from;
    this.#turns = turns;
  }

  /** A new table with the requests that follow none. */
  firstTurns(): RequestTable {
    const table = new RequestTable(this.#from.count);
    copyTableNames(this.#from, table);
    table.blocks = this.#from.blocks?.withoutRows() ?? null;
    for (let row = 0; row < this.#from.count; row++) {
      if (Number.isNaN(this.#turns.pauseUs[row]!)) this.#copy(row, table);
    }
    return table;
  }

  left(table: RequestTable, row: number, completed: boolean, atUs: number, horizonUs: number): number {
    const record = this.#turns.next[this.records[row]!]!;
    if (!completed || record < 0) return -1;
    const { isScheduled, pauseUs } = this.#turns;
    const arrivalUs = isScheduled ? Math.max(atUs, this.#from.arrivalUs[record]!) : atUs + pauseUs[record]!;
    if (arrivalUs > horizonUs) return -1;
    const next = this.#copy(record, table);
    table.arrivalUs[next] = arrivalUs;
    return next;
  }

  #copy(record: number, table: RequestTable): number {
    const row = copyRow(this.#from, record, table);
    this.records[row] = record;
    return row;
  }
}
