/**
 * A fixed number of KV blocks with reference counts and a free list in the order of release: the block that was freed
 * longest ago is taken first. A free block can be claimed from the middle of the list (its content is still good).
 */
export class BlockPool {
  readonly total: number;
  #free: number;
  readonly #references: Int32Array;
  /** Doubly linked free list; slot `total` is the sentinel: its next is the head, its previous the tail. */
  readonly #next: Int32Array;
  readonly #previous: Int32Array;

  constructor(total: number) {
    this.total = total;
    this.#free = total;
    this.#references = new Int32Array(total);
    this.#next = new Int32Array(total + 1);
    this.#previous = new Int32Array(total + 1);
    for (let block = 0; block <= total; block++) {
      this.#next[block] = block === total ? 0 : block + 1;
      this.#previous[block] = block === 0 ? total : block - 1;
    }
  }

  get free(): number {
    return this.#free;
  }

  get used(): number {
    return this.total - this.#free;
  }

  isFree(block: number): boolean {
    return this.#references[block] === 0;
  }

  /** Takes the head of the free list. Only call it when `free` is not 0. */
  take(): number {
    const block = this.#next[this.total]!;
    this.#unlink(block);
    this.#references[block] = 1;
    return block;
  }

  /** One more owner for a block, wherever it is. */
  claim(block: number): void {
    if (this.#references[block]!++ === 0) this.#unlink(block);
  }

  /** One owner less; without owners the block goes to the tail of the free list. */
  release(block: number): void {
    if (--this.#references[block]! !== 0) return;
    const tail = this.#previous[this.total]!;
    this.#next[tail] = block;
    this.#previous[block] = tail;
    this.#next[block] = this.total;
    this.#previous[this.total] = block;
    this.#free++;
  }

  #unlink(block: number): void {
    const next = this.#next[block]!;
    const previous = this.#previous[block]!;
    this.#next[previous] = next;
    this.#previous[next] = previous;
    this.#free--;
  }
}
