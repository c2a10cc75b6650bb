import { grownArray, roomFor } from '../../../kernel/grown-array.js';
import { RecencyLists } from '../../../kernel/recency-lists.js';

/** The one list of entries. */
const CACHED = 0;
const USUAL_ROOM = 1024;

/**
 * A cache of the most recently used blocks. Blocks that several prompts share are entries by key; the other blocks of a
 * prompt occupy memory but are never looked up, so they are one entry with a weight, which is evicted block by block.
 */
export class LruBlocks {
  readonly #capacity: number;
  readonly #recency = new RecencyLists(1, USUAL_ROOM);
  #size = 0;
  /** By entry: its blocks; 0 when it is not cached. */
  #weight = new Int32Array(USUAL_ROOM);

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  has(entry: number): boolean {
    return entry < this.#weight.length && this.#weight[entry]! > 0;
  }

  /** Makes an entry of this many blocks the most recent, and evicts the least recent blocks for it. */
  use(entry: number, weight: number): void {
    if (entry >= this.#weight.length) this.#grow(entry);
    if (this.#weight[entry]! > 0) this.#remove(entry);
    this.#recency.append(CACHED, entry);
    this.#weight[entry] = weight;
    this.#size += weight;
    while (this.#size > this.#capacity) this.#evict(this.#size - this.#capacity);
  }

  #evict(blocks: number): void {
    const entry = this.#recency.oldest[CACHED]!;
    const weight = this.#weight[entry]!;
    if (weight <= blocks) {
      this.#remove(entry);
      return;
    }
    this.#weight[entry] = weight - blocks;
    this.#size -= blocks;
  }

  #remove(entry: number): void {
    this.#recency.remove(CACHED, entry);
    this.#size -= this.#weight[entry]!;
    this.#weight[entry] = 0;
  }

  #grow(entry: number): void {
    this.#weight = grownArray(this.#weight, roomFor(entry, this.#weight.length));
    this.#recency.reserve(this.#weight.length);
  }
}
