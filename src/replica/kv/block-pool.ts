/** No block, no key. */
export const NO_BLOCK = -1;

/**
 * A fixed number of KV blocks with owners and a free list in the order of release: the block that was freed longest ago
 * is taken first. A free block can also be claimed out of the list (its content is still good).
 *
 * The free list is a ring of block numbers that is written and read in sequence; a claimed block leaves a hole in it.
 * Blocks that were never used come before all others and are in no list, so a large pool that is little used costs little.
 * The blocks that one owner took are linked to each other, last to first, so that whole chains are taken and released.
 */
export class BlockPool {
  readonly total: number;
  free: number;
  /** By block: one more than the key its content is known by; 0 when it is never looked up. */
  readonly #keyPlusOne: Int32Array;
  /** By block: the one that its owner took before it. */
  readonly below: Int32Array;
  /** Blocks of the last `take` that had a key, `lostCount` of them: what they held is gone. */
  lost = new Int32Array(64);
  lostCount = 0;
  #ring: Int32Array;
  #mask: number;
  #head = 0;
  #tail = 0;
  /** The first block that was never used. */
  #fresh = 0;
  /** Owners when above 0; below 0 the complement of a free block's place in the ring; 0 for a block never used. */
  readonly #state: Int32Array;

  constructor(total: number) {
    this.total = total;
    this.free = total;
    this.#keyPlusOne = new Int32Array(total);
    this.below = new Int32Array(total);
    let capacity = 16;
    while (capacity < total * 2) capacity *= 2;
    this.#ring = new Int32Array(capacity);
    this.#mask = capacity - 1;
    this.#state = new Int32Array(total);
  }

  get used(): number {
    return this.total - this.free;
  }

  isFree(block: number): boolean {
    return this.#state[block]! <= 0;
  }

  /** What the block's content is known by, NO_BLOCK when it is never looked up. */
  key(block: number): number {
    return this.#keyPlusOne[block]! - 1;
  }

  setKey(block: number, key: number): void {
    this.#keyPlusOne[block] = key + 1;
  }

  /** Takes blocks for an owner whose last one is `top`; its last one then. There must be as many free ones. */
  take(count: number, top: number): number {
    if (count > this.lost.length) this.lost = new Int32Array(count * 2);
    const { below, lost } = this;
    const keyPlusOne = this.#keyPlusOne;
    const ring = this.#ring;
    const state = this.#state;
    const mask = this.#mask;
    let head = this.#head;
    let last = top;
    let lostCount = 0;
    const neverUsed = Math.min(count, this.total - this.#fresh);
    for (let i = 0; i < neverUsed; i++) {
      const block = this.#fresh++;
      state[block] = 1;
      below[block] = last;
      last = block;
    }
    for (let i = neverUsed; i < count; i++) {
      let block: number;
      do block = ring[head++ & mask]!;
      while (block < 0);
      lost[lostCount] = block;
      lostCount += keyPlusOne[block] === 0 ? 0 : 1;
      state[block] = 1;
      below[block] = last;
      last = block;
    }
    this.#head = head;
    this.free -= count;
    this.lostCount = lostCount;
    return last;
  }

  /** Takes one block; `lost` is left alone. */
  takeOne(top: number): number {
    const block = this.#fresh < this.total ? this.#fresh++ : this.#nextInRing();
    this.free--;
    this.#state[block] = 1;
    this.below[block] = top;
    return block;
  }

  #nextInRing(): number {
    const ring = this.#ring;
    const mask = this.#mask;
    let head = this.#head;
    let block: number;
    do block = ring[head++ & mask]!;
    while (block < 0);
    this.#head = head;
    return block;
  }

  /** One more owner for a block, wherever it is. */
  claim(block: number): void {
    const state = this.#state[block]!;
    if (state > 0) {
      this.#state[block] = state + 1;
      return;
    }
    this.#ring[~state] = NO_BLOCK;
    this.#state[block] = 1;
    this.free--;
  }

  /** One owner less; without owners the block goes to the end of the free list. */
  release(block: number): void {
    if (this.#tail - this.#head > this.#mask) this.#closeHoles();
    const state = this.#state[block]!;
    if (state > 1) {
      this.#state[block] = state - 1;
      return;
    }
    const place = this.#tail++ & this.#mask;
    this.#ring[place] = block;
    this.#state[block] = ~place;
    this.free++;
  }

  /** Releases a chain of `count` blocks, the last one taken first. */
  releaseChain(top: number, count: number): void {
    if (this.#tail - this.#head + count > this.#mask) this.#closeHoles();
    const { below } = this;
    const ring = this.#ring;
    const state = this.#state;
    const mask = this.#mask;
    let tail = this.#tail;
    for (let block = top; block !== NO_BLOCK; block = below[block]!) {
      const owners = state[block]!;
      if (owners > 1) {
        state[block] = owners - 1;
        continue;
      }
      const place = tail++ & mask;
      ring[place] = block;
      state[block] = ~place;
    }
    this.free += tail - this.#tail;
    this.#tail = tail;
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
