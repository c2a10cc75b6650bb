import { grownArray, roomFor } from '../../../kernel/grown-array.js';
import { IntMap } from '../../../kernel/int-map.js';
import { NONE } from '../../../kernel/recency-lists.js';

/**
 * Runs of block ids that follow each other in prompts, found by their first id. Ids are chained, so the first one stands
 * for everything before it: the runs of a prompt are found one after the other, each where the one before it ends.
 *
 * The ids of all runs are in one array. A part of a run is a part of the array, so a run is split without a copy; when
 * the array is full, the runs that are left move together, into a second array that is used in turn with the first.
 */
export class BlockRuns {
  /** By run: how many blocks it has, 0 when it is unused. */
  length = new Int32Array(0);
  /** By run: the first of what its user keeps for it, `NONE` at first. */
  head = new Int32Array(0);
  readonly #byFirst = new IntMap();
  #start = new Int32Array(0);
  /** Runs ever used; deleted ones are in a list along `start`. */
  #count = 0;
  #spare = NONE;
  #ids = new Int32Array(0);
  #otherIds = new Int32Array(0);
  #used = 0;
  #live = 0;

  /** The run that begins with this block, or `NONE`. */
  find(block: number): number {
    return this.#byFirst.get(block);
  }

  /** How many blocks from `from` on are those of a run that `find` returned for the first of them. */
  common(run: number, blocks: Int32Array, from: number, to: number): number {
    const ids = this.#ids;
    const offset = this.#start[run]! - from;
    const end = Math.min(to, from + this.length[run]!);
    let at = from + 1;
    while (at < end && ids[offset + at] === blocks[at]) at++;
    return at - from;
  }

  /** A new run of the blocks [from, to), at least one. */
  add(blocks: Int32Array, from: number, to: number): number {
    const length = to - from;
    this.#reserve(length);
    const start = this.#used;
    const ids = this.#ids;
    for (let at = from, id = start; at < to; at++, id++) ids[id] = blocks[at]!;
    this.#used += length;
    this.#live += length;
    return this.#new(start, length);
  }

  /** Makes the first `at` blocks of a run, but not all, a run of their own, which is returned; the run keeps the others. */
  split(run: number, at: number): number {
    const front = this.#new(this.#start[run]!, at);
    this.length[run]! -= at;
    this.#start[run]! += at;
    this.#byFirst.set(this.#ids[this.#start[run]!]!, run);
    return front;
  }

  delete(run: number): void {
    const first = this.#ids[this.#start[run]!]!;
    // Another run may begin with the same block: it was sent again after what is before it was dropped.
    if (this.#byFirst.get(first) === run) this.#byFirst.delete(first);
    this.#live -= this.length[run]!;
    this.length[run] = 0;
    this.#start[run] = this.#spare;
    this.#spare = run;
  }

  #new(start: number, length: number): number {
    let run = this.#spare;
    if (run === NONE) {
      run = this.#count++;
      if (run === this.length.length) {
        const room = roomFor(run, run);
        this.length = grownArray(this.length, room);
        this.head = grownArray(this.head, room);
        this.#start = grownArray(this.#start, room);
      }
    } else this.#spare = this.#start[run]!;
    this.#start[run] = start;
    this.length[run] = length;
    this.head[run] = NONE;
    this.#byFirst.set(this.#ids[start]!, run);
    return run;
  }

  /** Makes room for ids. At least half of the array is free afterwards, so that an id is moved once on average. */
  #reserve(more: number): void {
    if (this.#used + more <= this.#ids.length) return;
    const needed = 2 * (this.#live + more);
    const room = needed <= this.#ids.length ? this.#ids.length : roomFor(needed, this.#ids.length);
    const from = this.#ids;
    const to = this.#otherIds.length === room ? this.#otherIds : new Int32Array(room);
    let used = 0;
    for (let run = 0; run < this.#count; run++) {
      const start = this.#start[run]!;
      const length = this.length[run]!;
      if (length === 0) continue;
      for (let i = 0; i < length; i++) to[used + i] = from[start + i]!;
      this.#start[run] = used;
      used += length;
    }
    this.#ids = to;
    this.#otherIds = from;
    this.#used = used;
  }
}
