import { type RequestTable, ROW_FOLLOW_UP } from '../request-table.js';
import type { SessionDriver } from '../workload.js';

/**
 * Users who ask, wait for the answer, think and ask again, until together they have made all requests. A user whose request is
 * lost goes on in the same way: the number of users at work stays what was asked for.
 */
export class ClosedLoopUsers implements SessionDriver {
  readonly #total: number;
  readonly #thinkUs: number;
  /** Appends a request that arrives at this time and gives its row. */
  readonly #add: (arrivalUs: number) => number;
  #followUps = 0;

  constructor(total: number, thinkUs: number, add: (arrivalUs: number) => number) {
    this.#total = total;
    this.#thinkUs = thinkUs;
    this.#add = add;
  }

  /** The first request of every user, spread evenly over one pause so that they do not march in step. */
  start(table: RequestTable, users: number): void {
    for (let user = 0; user < users && table.count < this.#total; user++) {
      const row = this.#add(Math.trunc((user * this.#thinkUs) / users));
      table.session[row] = table.sessions.index(`user_${user}`);
    }
  }

  left(table: RequestTable, row: number, completed: boolean, atUs: number, horizonUs: number): number {
    // A loss takes effect at once: never ask again within the same microsecond, or cause and effect could not be told apart.
    const arrivalUs = atUs + (completed ? this.#thinkUs : Math.max(1, this.#thinkUs));
    if (table.count >= this.#total || arrivalUs > horizonUs) return -1;
    const next = this.#add(arrivalUs);
    table.sourceId[next] = ++this.#followUps;
    table.session[next] = table.session[row]!;
    table.round[next] = table.round[row]! + 1;
    table.flags[next] = ROW_FOLLOW_UP;
    return next;
  }
}
