import { grownArray } from './grown-array.js';

/** No entry. */
export const NONE = -1;

/**
 * Lists of entries from the least to the most recently used, linked through typed arrays: using, removing and finding the
 * oldest entry take constant time and allocate nothing. Entries are whole numbers below the room made with `reserve`; an
 * entry is in one list at most.
 */
export class RecencyLists {
  /** By list: its least and its most recent entry, `NONE` when it is empty. */
  readonly oldest: Int32Array;
  readonly newest: Int32Array;
  // By entry: its neighbours.
  #older = new Int32Array(0);
  #newer = new Int32Array(0);

  constructor(lists: number, room = 0) {
    this.oldest = new Int32Array(lists).fill(NONE);
    this.newest = new Int32Array(lists).fill(NONE);
    this.reserve(room);
  }

  /** Makes room for entries below `room`. */
  reserve(room: number): void {
    if (room <= this.#older.length) return;
    this.#older = grownArray(this.#older, room);
    this.#newer = grownArray(this.#newer, room);
  }

  /** The next more recent entry of the same list, `NONE` after the newest. */
  newer(entry: number): number {
    return this.#newer[entry]!;
  }

  /** Makes an entry that is in no list the most recent one of this list. */
  append(list: number, entry: number): void {
    const newest = this.newest[list]!;
    this.#older[entry] = newest;
    this.#newer[entry] = NONE;
    if (newest === NONE) this.oldest[list] = entry;
    else this.#newer[newest] = entry;
    this.newest[list] = entry;
  }

  /** Puts an entry that is in no list directly before one of this list. */
  insertBefore(list: number, entry: number, newer: number): void {
    const older = this.#older[newer]!;
    this.#older[entry] = older;
    this.#newer[entry] = newer;
    this.#older[newer] = entry;
    if (older === NONE) this.oldest[list] = entry;
    else this.#newer[older] = entry;
  }

  /** Removes an entry from the list that it is in. */
  remove(list: number, entry: number): void {
    const older = this.#older[entry]!;
    const newer = this.#newer[entry]!;
    if (older === NONE) this.oldest[list] = newer;
    else this.#newer[older] = newer;
    if (newer === NONE) this.newest[list] = older;
    else this.#older[newer] = older;
  }

  /** Empties all lists. */
  clear(): void {
    this.oldest.fill(NONE);
    this.newest.fill(NONE);
  }
}
