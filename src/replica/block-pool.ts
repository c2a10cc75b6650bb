/**
 * A fixed number of KV blocks with owners and a free list in the order of release: the block that was freed longest ago
 * is taken first. A free block can also be claimed out of the list (its content is still good).
 *
 * The free list is a ring of block numbers that is written and read in sequence; a claimed block leaves a hole in it.
 */
export class BlockPool {
  readonly total: number;
  free: number;
  #ring: Int32Array;
  #mask: number;
  #head = 0;
  #tail: number;
  /** Number of owners when above 0; for a free block the complement of its place in the ring, which is below 0. */
  readonly #state: Int32Array;

  constructor(total: number) {
    this.total = total;
    this.free = total;
    let capacity = 16;
    while (capacity < total * 2) capacity *= 2;
    this.#ring = new Int32Array(capacity);
    this.#mask = capacity - 1;
    this.#tail = total;
    this.#state = new Int32Array(total);
    for (let block = 0; block < total; block++) {
      this.#ring[block] = block;
      this.#state[block] = ~block;
    }
  }

  get used(): number {
    return this.total - this.free;
  }

  isFree(block: number): boolean {
    return this.#state[block]! < 0;
  }

  /** Takes the block that was freed longest ago. Only call it when `free` is not 0. */
  take(): number {
    const ring = this.#ring;
    const mask = this.#mask;
    let head = this.#head;
    let block: number;
    do block = ring[head++ & mask]!;
    while (block < 0);
    this.#head = head;
    this.#state[block] = 1;
    this.free--;
    return block;
  }

  /** One more owner for a block, wherever it is. */
  claim(block: number): void {
    const state = this.#state[block]!;
    if (state > 0) {
      this.#state[block] = state + 1;
      return;
    }
    this.#ring[~state] = -1;
    this.#state[block] = 1;
    this.free--;
  }

  /** One owner less; without owners the block goes to the end of the free list. */
  release(block: number): void {
    const state = this.#state[block]!;
    if (state > 1) {
      this.#state[block] = state - 1;
      return;
    }
    if (this.#tail - this.#head > this.#mask) this.#closeHoles();
    const place = this.#tail++ & this.#mask;
    this.#ring[place] = block;
    this.#state[block] = ~place;
    this.free++;
  }

  #closeHoles(): void {
    const closed = new Int32Array(this.#ring.length);
    let length = 0;
    for (let at = this.#head; at < this.#tail; at++) {
      const block = this.#ring[at & this.#mask]!;
      if (block < 0) continue;
      this.#state[block] = ~length;
      closed[length++] = block;
    }
    this.#ring = closed;
    this.#head = 0;
    this.#tail = length;
  }
}
