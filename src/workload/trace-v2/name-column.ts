import type { NameTable } from '../../kernel/name-table.js';

const SLOTS = 1024;

/**
 * Puts names into a column as numbers. Names repeat: a small cache in front of the name table knows the bytes of names seen
 * before, so that a repeated name is found without making a string.
 */
export class NameColumn {
  readonly #bytes: Buffer;
  readonly #names: NameTable;
  /** The largest number that the column takes. */
  readonly #max: number;
  readonly #into: Int32Array | Uint16Array | Uint8Array;
  readonly #begin = new Float64Array(SLOTS);
  readonly #length = new Int32Array(SLOTS);
  readonly #index = new Int32Array(SLOTS);

  constructor(bytes: Buffer, names: NameTable, max: number, into: Int32Array | Uint16Array | Uint8Array) {
    this.#bytes = bytes;
    this.#names = names;
    this.#max = max;
    this.#into = into;
  }

  /** Stores the name in bytes[begin, end), of which `hash` is any hash; false when it cannot be stored. */
  read(begin: number, end: number, hash: number, row: number): boolean {
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    const length = end - begin;
    if (this.#length[slot] === length && this.#same(this.#begin[slot]!, begin, length)) {
      this.#into[row] = this.#index[slot]!;
      return true;
    }
    if (!this.store(this.#bytes.toString('utf8', begin, end), row)) return false;
    this.#begin[slot] = begin;
    this.#length[slot] = length;
    this.#index[slot] = this.#into[row]!;
    return true;
  }

  /** Stores a name; false when its number is too large for the column. */
  store(name: string, row: number): boolean {
    const index = this.#names.index(name);
    if (index > this.#max) return false;
    this.#into[row] = index;
    return true;
  }

  #same(a: number, b: number, length: number): boolean {
    const bytes = this.#bytes;
    let i = 0;
    while (i < length && bytes[a + i] === bytes[b + i]) i++;
    return i === length;
  }
}
