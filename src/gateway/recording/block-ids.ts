import { ID_CHARACTERS, recordedId } from './recorded-id.js';

const SLOT_BITS = 17;
const SLOTS = 1 << SLOT_BITS;
/** An id in quotes, and a comma. */
const STRIDE = ID_CHARACTERS + 3;
const [QUOTE, COMMA, OPENED, CLOSED] = [34, 44, 91, 93];

/**
 * The ids of prompt blocks in a recording. An id takes a keyed hash of about 2 us; recent ones are cached, about
 * 130,000 of them in 3 MB, so that a shared prefix costs almost nothing.
 */
export class BlockIds {
  readonly #key: Buffer;
  /** By slot: the block and its id; empty for a slot that was never used. */
  readonly #first = new Int32Array(SLOTS);
  readonly #second = new Int32Array(SLOTS);
  readonly #texts = Buffer.alloc(SLOTS * STRIDE);
  readonly #hashed = Buffer.alloc(8);
  #list = Buffer.alloc(2 + 1024 * STRIDE);

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** A JSON list of ids. `words`: two for each block, as BlockChain has them. */
  list(words: Int32Array, count: number): string {
    const length = 1 + count * STRIDE;
    if (length >= this.#list.length) this.#list = Buffer.alloc(length * 2);
    const list = this.#list;
    const texts = this.#texts;
    list[0] = OPENED!;
    let at = 1;
    for (let block = 0; block < count; block++) {
      const from = this.#find(words[2 * block]!, words[2 * block + 1]!) * STRIDE;
      for (let i = 0; i < STRIDE; i++) list[at + i] = texts[from + i]!;
      at += STRIDE;
    }
    // The last comma ends the list.
    list[count === 0 ? at++ : at - 1] = CLOSED!;
    return list.toString('latin1', 0, at);
  }

  /** The slot that holds the block's text. */
  #find(first: number, second: number): number {
    const slot = Math.imul(first ^ (second >>> 15), 0x9e3779b1) >>> (32 - SLOT_BITS);
    if (this.#first[slot] !== first || this.#second[slot] !== second || this.#texts[slot * STRIDE] === 0) {
      this.#fill(slot, first, second);
    }
    return slot;
  }

  #fill(slot: number, first: number, second: number): void {
    this.#hashed.writeInt32LE(first, 0);
    this.#hashed.writeInt32LE(second, 4);
    const at = slot * STRIDE;
    this.#texts[at] = QUOTE!;
    this.#texts.write(recordedId(this.#key, 'block', this.#hashed), at + 1, 'latin1');
    this.#texts[at + STRIDE - 2] = QUOTE!;
    this.#texts[at + STRIDE - 1] = COMMA!;
    this.#first[slot] = first;
    this.#second[slot] = second;
  }
}
