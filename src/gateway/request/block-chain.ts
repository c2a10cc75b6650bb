/**
 * Identifies the blocks of a prompt by their content and all content before them: 31 bits of a chained 64-bit hash. Two
 * prompts with the same leading blocks have the same leading ids; the chain starts from a seed, so that equal texts for
 * different models or adapters have nothing in common.
 */
export class BlockChain {
  ids = new Int32Array(256);
  /** The full hash of each id, two words each: for uses where 31 bits are too few. */
  words = new Int32Array(512);
  count = 0;
  #a = 0;
  #b = 0;

  start(seed: string): void {
    this.count = 0;
    this.#a = 0x9e3779b9 | 0;
    this.#b = 0x85ebca6b | 0;
    for (let i = 0; i < seed.length; i++) this.#mix(seed.charCodeAt(i));
  }

  /** Adds every full block of bytes[0, length). */
  addBlocks(bytes: Buffer, length: number, blockBytes: number): void {
    const blocks = Math.floor(length / blockBytes);
    if (blocks > this.ids.length) {
      this.ids = new Int32Array(blocks * 2);
      this.words = new Int32Array(blocks * 4);
    }
    for (let block = 0; block < blocks; block++) {
      this.#mixBytes(bytes, block * blockBytes, (block + 1) * blockBytes);
      this.ids[block] = (this.#a ^ (this.#b << 7)) >>> 1;
      this.words[2 * block] = this.#a;
      this.words[2 * block + 1] = this.#b;
    }
    this.count = blocks;
  }

  #mixBytes(bytes: Buffer, begin: number, end: number): void {
    let a = this.#a;
    let b = this.#b;
    let p = begin;
    for (; p + 4 <= end; p += 4) {
      const word = bytes[p]! | (bytes[p + 1]! << 8) | (bytes[p + 2]! << 16) | (bytes[p + 3]! << 24);
      a = Math.imul(a ^ word, 0x01000193) ^ (b >>> 15);
      b = Math.imul(b + word, 0xc2b2ae35 | 0) ^ (a >>> 13);
    }
    for (; p < end; p++) {
      a = Math.imul(a ^ bytes[p]!, 0x01000193) ^ (b >>> 15);
      b = Math.imul(b + bytes[p]!, 0xc2b2ae35 | 0) ^ (a >>> 13);
    }
    this.#a = a;
    this.#b = b;
  }

  #mix(word: number): void {
    this.#a = Math.imul(this.#a ^ word, 0x01000193) ^ (this.#b >>> 15);
    this.#b = Math.imul(this.#b + word, 0xc2b2ae35 | 0) ^ (this.#a >>> 13);
  }
}
