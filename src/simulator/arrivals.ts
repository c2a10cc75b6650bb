import { EventHeap } from '../kernel/events/event-heap.js';
import { arrivalOrder, isSorted } from '../workload/arrival-order.js';
import type { RequestTable } from '../workload/request-table.js';

const NEVER = Number.POSITIVE_INFINITY;

/**
 * The requests of a workload in order of arrival: those known up front, and the later turns of sessions, which become known
 * during the run. At equal times a request known up front comes first.
 */
export class Arrivals {
  readonly #table: RequestTable;
  readonly #progress: ((arrived: number, known: number) => void) | undefined;
  /** Null when the rows are in order of arrival. */
  readonly #order: Int32Array | null;
  readonly #known: number;
  #arrived = 0;
  readonly #laterTurns = new EventHeap();

  /** @param progress is called after every 1024 requests known up front */
  constructor(table: RequestTable, progress: ((arrived: number, known: number) => void) | undefined) {
    this.#table = table;
    this.#progress = progress;
    this.#order = isSorted(table) ? null : arrivalOrder(table);
    this.#known = table.count;
  }

  /** When the next request arrives; Infinity when none is known. */
  nextUs(): number {
    const row = this.#nextKnown();
    const knownUs = row < 0 ? NEVER : this.#table.arrivalUs[row]!;
    return this.#laterTurns.size === 0 ? knownUs : Math.min(knownUs, this.#laterTurns.nextUs);
  }

  /** The request that arrives at `nextUs`. */
  pop(nextUs: number): number {
    const row = this.#nextKnown();
    if (row < 0 || this.#table.arrivalUs[row] !== nextUs) return this.#laterTurns.pop();
    this.#arrived++;
    if ((this.#arrived & 1023) === 0) this.#progress?.(this.#arrived, this.#known);
    return row;
  }

  /** A row of the table that became known during the run. */
  push(row: number): void {
    this.#laterTurns.push(this.#table.arrivalUs[row]!, row);
  }

  /** The next request of those known up front, or -1. */
  #nextKnown(): number {
    if (this.#arrived >= this.#known) return -1;
    return this.#order === null ? this.#arrived : this.#order[this.#arrived]!;
  }
}
