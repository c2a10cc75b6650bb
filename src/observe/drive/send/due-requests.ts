import { EventHeap } from '../../../kernel/events/event-heap.js';
import { arrivalOrder } from '../../../workload/arrival-order.js';
import type { RequestTable } from '../../../workload/request-table.js';

/** The requests of a plan in order of time: those known up front, and those that responses cause. */
export class DueRequests {
  readonly #table: RequestTable;
  readonly #order: Int32Array;
  #next = 0;
  readonly #followUps = new EventHeap();

  constructor(table: RequestTable, horizonUs: number) {
    this.#table = table;
    this.#order = arrivalOrder(table).filter((row) => table.arrivalUs[row]! <= horizonUs);
  }

  get left(): number {
    return this.#order.length - this.#next + this.#followUps.size;
  }

  /** When the next one is due; Infinity when there is none. */
  get nextUs(): number {
    return Math.min(this.#knownUs, this.#followUps.nextUs);
  }

  /** Takes the next one. */
  take(): number {
    return this.#knownUs <= this.#followUps.nextUs ? this.#order[this.#next++]! : this.#followUps.pop();
  }

  add(row: number): void {
    this.#followUps.push(this.#table.arrivalUs[row]!, row);
  }

  /** The next ones that are known, `count` at most. */
  ahead(count: number): Int32Array {
    return this.#order.subarray(this.#next, this.#next + count);
  }

  get #knownUs(): number {
    return this.#next < this.#order.length
      ? this.#table.arrivalUs[this.#order[this.#next]!]!
      : Number.POSITIVE_INFINITY;
  }
}
