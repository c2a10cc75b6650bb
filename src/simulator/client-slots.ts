import { EventFifo } from '../kernel/events/event-fifo.js';
import { EventHeap } from '../kernel/events/event-heap.js';
import type { RequestOutcomes } from '../replica/request-outcomes.js';
import type { RequestTable } from '../workload/request-table.js';

/**
 * The client's cap on requests in flight: a due request is held back while that many are in flight, and is sent when one of
 * them ends, oldest first. Whatever ends a request frees its slot: a response, a refusal, a time-out.
 */
export class ClientSlots {
  readonly #limit: number;
  readonly #table: RequestTable;
  readonly #outcomes: RequestOutcomes;
  #inFlight = 0;
  /** Ends of requests in flight that are known, some of them in the future: a replica may report the end of a step early. */
  readonly #ends = new EventHeap();
  readonly #held = new EventFifo();
  /** Deadlines of requests in the gateway queue. */
  readonly #giveUps = new EventHeap();

  constructor(limit: number, table: RequestTable, outcomes: RequestOutcomes) {
    this.#limit = limit;
    this.#table = table;
    this.#outcomes = outcomes;
  }

  /** When the client next sends a held request or gives up on one in the gateway queue; Infinity when neither is known. */
  get nextUs(): number {
    return Math.min(this.#sendUs, this.#giveUps.nextUs);
  }

  /** Takes a slot for a request that is due; false: there is none, and it is held back. */
  take(row: number, nowUs: number): boolean {
    while (this.#ends.nextUs <= nowUs) this.#free();
    if (this.#inFlight >= this.#limit) {
      this.#held.push(nowUs, row);
      return false;
    }
    this.#inFlight++;
    return true;
  }

  /** A request in flight ends at this time. */
  ends(row: number, atUs: number): void {
    this.#ends.push(atUs, row);
  }

  /** A request waits in the gateway queue: its client gives up at its deadline, whether it is dispatched by then or not. */
  queued(row: number, nowUs: number): void {
    const deadlineUs = this.#table.deadlineUs[row]!;
    if (deadlineUs > nowUs) this.#giveUps.push(deadlineUs, row);
  }

  /**
   * The request that the client sends now, in the slot that became free; -1: it gives up on one instead, see `giveUp`. It
   * arrives now: latencies and the client's time-out count from the sending.
   */
  send(nowUs: number): number {
    if (this.#sendUs !== nowUs) return -1;
    this.#free();
    this.#inFlight++;
    const row = this.#held.pop();
    const { arrivalUs, deadlineUs } = this.#table;
    const heldUs = nowUs - arrivalUs[row]!;
    arrivalUs[row] = nowUs;
    if (deadlineUs[row]! > 0) deadlineUs[row]! += heldUs;
    this.#outcomes.clientWaitUs![row] = heldUs;
    return row;
  }

  /** The request whose deadline has come. */
  giveUp(): number {
    return this.#giveUps.pop();
  }

  get #sendUs(): number {
    return this.#held.size === 0 ? Number.POSITIVE_INFINITY : this.#ends.nextUs;
  }

  #free(): void {
    this.#ends.pop();
    this.#inFlight--;
  }
}
