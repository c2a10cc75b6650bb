const NONE = -1;
/** A power of two. */
const RINGS = 1024;

/** Slots by the clock at which they are done, modulo the number of rings: a list of each ring, linked through columns. */
export class DueSlots {
  readonly #head = new Int32Array(RINGS).fill(NONE);
  #next = new Int32Array(256);
  #previous = new Int32Array(256);

  add(slot: number, doneAt: number): void {
    const ring = doneAt & (RINGS - 1);
    const head = this.#head[ring]!;
    this.#previous[slot] = NONE;
    this.#next[slot] = head;
    if (head >= 0) this.#previous[head] = slot;
    this.#head[ring] = slot;
  }

  /** `doneAt` is the value the slot was added with. */
  remove(slot: number, doneAt: number): void {
    const previous = this.#previous[slot]!;
    const next = this.#next[slot]!;
    if (previous < 0) this.#head[doneAt & (RINGS - 1)] = next;
    else this.#next[previous] = next;
    if (next >= 0) this.#previous[next] = previous;
  }

  /** Whether a slot may be done at a clock; slots that are done a multiple of the rings later count too. */
  hasAny(clock: number): boolean {
    return this.#head[clock & (RINGS - 1)]! >= 0;
  }

  /** Appends the slots that are done at a clock, in no particular order. */
  collect(clock: number, doneAt: Int32Array, into: number[]): void {
    for (let slot = this.#head[clock & (RINGS - 1)]!; slot >= 0; slot = this.#next[slot]!) {
      if (doneAt[slot] === clock) into.push(slot);
    }
  }

  grow(capacity: number): void {
    const next = new Int32Array(capacity);
    next.set(this.#next);
    this.#next = next;
    const previous = new Int32Array(capacity);
    previous.set(this.#previous);
    this.#previous = previous;
  }
}
