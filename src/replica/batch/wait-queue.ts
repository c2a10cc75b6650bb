import type { SchedulingOrder } from '../scheduling/contract.js';

/** The requests that wait for a seat in the batch. Rows; the head is the next to be admitted. */
export interface WaitQueue {
  /** Waiting requests. */
  readonly length: number;
  push(row: number): void;
  /** Back to the front: a preempted request. */
  pushFront(row: number): void;
  /** The next row, -1 when empty. */
  head(): number;
  shift(): void;
  /** Takes out a row that waits somewhere in the queue. */
  remove(row: number): void;
}

/** First come, first served; what was put back at the front goes first. */
class ArrivalQueue implements WaitQueue {
  #rows = new Int32Array(64);
  #start = 0;
  /** Places used, removed rows included. */
  #used = 0;
  length = 0;

  push(row: number): void {
    if (this.#used === this.#rows.length) this.#grow();
    this.#rows[(this.#start + this.#used++) & (this.#rows.length - 1)] = row;
    this.length++;
  }

  pushFront(row: number): void {
    if (this.#used === this.#rows.length) this.#grow();
    this.#start = (this.#start - 1) & (this.#rows.length - 1);
    this.#rows[this.#start] = row;
    this.#used++;
    this.length++;
  }

  head(): number {
    while (this.#used > 0) {
      const row = this.#rows[this.#start]!;
      if (row >= 0) return row;
      this.#drop();
    }
    return -1;
  }

  shift(): void {
    this.head();
    this.#drop();
    this.length--;
  }

  remove(row: number): void {
    const mask = this.#rows.length - 1;
    for (let i = 0; i < this.#used; i++) {
      const at = (this.#start + i) & mask;
      if (this.#rows[at] !== row) continue;
      this.#rows[at] = -1;
      this.length--;
      return;
    }
  }

  #drop(): void {
    this.#start = (this.#start + 1) & (this.#rows.length - 1);
    this.#used--;
  }

  #grow(): void {
    const old = this.#rows;
    const grown = new Int32Array(old.length * 2);
    for (let i = 0; i < this.#used; i++) grown[i] = old[(this.#start + i) & (old.length - 1)]!;
    this.#rows = grown;
    this.#start = 0;
  }
}

/** Always in the order of a total comparison, so that where a row is put in does not matter: a binary heap. */
class SortedQueue implements WaitQueue {
  readonly #before: (a: number, b: number) => boolean;
  readonly #heap: number[] = [];

  constructor(before: (a: number, b: number) => boolean) {
    this.#before = before;
  }

  get length(): number {
    return this.#heap.length;
  }

  push(row: number): void {
    this.#heap.push(row);
    this.#rise(this.#heap.length - 1);
  }

  pushFront(row: number): void {
    this.push(row);
  }

  head(): number {
    return this.#heap.length === 0 ? -1 : this.#heap[0]!;
  }

  shift(): void {
    this.#removeAt(0);
  }

  remove(row: number): void {
    const at = this.#heap.indexOf(row);
    if (at >= 0) this.#removeAt(at);
  }

  #removeAt(at: number): void {
    const last = this.#heap.pop()!;
    if (at === this.#heap.length) return;
    this.#heap[at] = last;
    this.#sink(at);
    this.#rise(at);
  }

  #rise(start: number): void {
    const heap = this.#heap;
    let at = start;
    const row = heap[at]!;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#before(row, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = row;
  }

  #sink(start: number): void {
    const heap = this.#heap;
    let at = start;
    const row = heap[at]!;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && this.#before(heap[child + 1]!, heap[child]!)) child++;
      if (!this.#before(heap[child]!, row)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = row;
  }
}

export function createWaitQueue(order: SchedulingOrder | null): WaitQueue {
  return order === null ? new ArrivalQueue() : new SortedQueue(order);
}
