const NONE = -1;

/**
 * A cache of the most recently used blocks. Blocks that several prompts have are entries by key; the other blocks of a
 * prompt take up room but are never asked for, so they are one entry with a weight, which leaves block by block.
 */
export class LruBlocks {
  readonly #capacity: number;
  #size = 0;
  // By entry: its neighbours in the line from the least to the most recent, and its blocks; 0 when it is not cached.
  #older = new Int32Array(1024);
  #newer = new Int32Array(1024);
  #weight = new Int32Array(1024);
  #oldest = NONE;
  #newest = NONE;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  has(entry: number): boolean {
    return entry < this.#weight.length && this.#weight[entry]! > 0;
  }

  /** Makes an entry of so many blocks the most recent; the least recent blocks make room. */
  use(entry: number, weight: number): void {
    while (entry >= this.#weight.length) this.#grow();
    if (this.#weight[entry]! > 0) this.#remove(entry);
    this.#older[entry] = this.#newest;
    this.#newer[entry] = NONE;
    if (this.#newest === NONE) this.#oldest = entry;
    else this.#newer[this.#newest] = entry;
    this.#newest = entry;
    this.#weight[entry] = weight;
    this.#size += weight;
    while (this.#size > this.#capacity) this.#evict(this.#size - this.#capacity);
  }

  #evict(blocks: number): void {
    const entry = this.#oldest;
    const weight = this.#weight[entry]!;
    if (weight <= blocks) {
      this.#remove(entry);
      return;
    }
    this.#weight[entry] = weight - blocks;
    this.#size -= blocks;
  }

  #remove(entry: number): void {
    const older = this.#older[entry]!;
    const newer = this.#newer[entry]!;
    if (older === NONE) this.#oldest = newer;
    else this.#newer[older] = newer;
    if (newer === NONE) this.#newest = older;
    else this.#older[newer] = older;
    this.#size -= this.#weight[entry]!;
    this.#weight[entry] = 0;
  }

  #grow(): void {
    const doubled = (array: Int32Array) => {
      const next = new Int32Array(array.length * 2);
      next.set(array);
      return next;
    };
    this.#older = doubled(this.#older);
    this.#newer = doubled(this.#newer);
    this.#weight = doubled(this.#weight);
  }
}
