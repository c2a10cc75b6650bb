import { IntMap } from '../kernel/int-map.js';

/** Small numbers for the requests in flight, so that books about them do not grow with the workload. */
export class RequestSlots {
  readonly #slots = new IntMap(1024);
  #free = new Int32Array(1024);
  #freeCount = 0;
  #made = 0;

  /** A number for the row, its own until `giveBack`. */
  take(row: number): number {
    const known = this.#slots.get(row);
    if (known >= 0) return known;
    const slot = this.#freeCount > 0 ? this.#free[--this.#freeCount]! : this.#made++;
    this.#slots.set(row, slot);
    return slot;
  }

  /** The row's number, -1 when it has none. */
  of(row: number): number {
    return this.#slots.get(row);
  }

  /** The number the row had, -1 when it had none. */
  giveBack(row: number): number {
    const slot = this.#slots.get(row);
    if (slot < 0) return -1;
    this.#slots.delete(row);
    if (this.#freeCount === this.#free.length) {
      const larger = new Int32Array(this.#free.length * 2);
      larger.set(this.#free);
      this.#free = larger;
    }
    this.#free[this.#freeCount++] = slot;
    return slot;
  }
}
