import { TOKEN_BYTES } from '../protocol/prompt-bytes.js';

const MAX_KEY = 2 ** 31 - 2;

/**
 * Keys of the text that a model reads and writes: one per full block of tokens, each for everything up to the end of
 * its block. Texts with a common prefix have the same keys for it. Different texts share a key once in two billion
 * times, which is harmless in a model of a cache.
 */
export class PromptHash {
  #a: number;
  #b: number;

  /** @param salt texts under different salts share nothing */
  constructor(salt: number) {
    this.#a = salt ^ 0x9e3779b9;
    this.#b = Math.imul(salt, 0x85ebca6b) ^ 0xc2b2ae35;
  }

  /** Adds the tokens from..to-1 of some bytes; a last token that is cut short counts as filled with zeros. */
  add(bytes: Buffer, from: number, to: number): void {
    let a = this.#a;
    let b = this.#b;
    const end = to * TOKEN_BYTES;
    const whole = Math.min(end, bytes.length - (bytes.length % TOKEN_BYTES));
    for (let at = from * TOKEN_BYTES; at < end; at += TOKEN_BYTES) {
      const word = at < whole ? bytes.readInt32LE(at) : bytes.readIntLE(at, bytes.length - at);
      a = Math.imul(a ^ word, 0x01000193);
      a ^= a >>> 15;
      b = Math.imul(b + word, 0x2c1b3c6d) ^ (a << 7);
      b ^= b >>> 13;
    }
    this.#a = a;
    this.#b = b;
  }

  /** A whole number of 32 bits for everything added so far. */
  value(): number {
    let x = Math.imul(this.#a ^ (this.#b >>> 16), 0x7feb352d);
    x = Math.imul(x ^ (x >>> 15) ^ this.#b, 0x846ca68b);
    return (x ^ (x >>> 16)) >>> 0;
  }

  /** The same, small enough to be a block's key. */
  key(): number {
    return Math.min(this.value() >>> 1, MAX_KEY);
  }
}

/** Keys of the first `blocks` blocks of a text, all full. */
export function blockKeys(bytes: Buffer, blocks: number, blockSize: number, salt: number): Int32Array {
  const hash = new PromptHash(salt);
  const keys = new Int32Array(blocks);
  for (let i = 0; i < blocks; i++) {
    hash.add(bytes, i * blockSize, (i + 1) * blockSize);
    keys[i] = hash.key();
  }
  return keys;
}

/** One number for a whole text. */
export function hashText(text: string, salt = 0): number {
  const bytes = Buffer.from(text);
  const hash = new PromptHash(salt ^ bytes.length);
  hash.add(bytes, 0, Math.ceil(bytes.length / TOKEN_BYTES));
  return hash.value();
}
