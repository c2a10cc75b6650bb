import type { NameTable } from '../../../kernel/name-table.js';

const SLOTS = 1024;
/** Longer names always become strings. */
const SLOT_BYTES = 48;

/**
 * Puts names into a column as numbers. Names repeat: a small cache in front of the name table knows the bytes of names seen
 * before, so that a repeated name is found without making a string.
 */
export class NameColumn {
  readonly #names: NameTable;
  /** The largest number that the column takes. */
  readonly #max: number;
  readonly #into: Int32Array | Uint16Array | Uint8Array;
  readonly #known = new Uint8Array(SLOTS * SLOT_BYTES);
  readonly #length = new Uint8Array(SLOTS);
  readonly #index = new Int32Array(SLOTS);

  constructor(names: NameTable, max: number, into: Int32Array | Uint16Array | Uint8Array) {
    this.#names = names;
    this.#max = max;
    this.#into = into;
  }

  /** Stores the name in bytes[begin, end), of which `hash` is any hash; false when it cannot be stored. */
  read(bytes: Buffer, begin: number, end: number, hash: number, row: number): boolean {
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    const length = end - begin;
    if (this.#length[slot] === length && this.#isKnown(slot * SLOT_BYTES, bytes, begin, length)) {
      this.#into[row] = this.#index[slot]!;
      return true;
    }
    if (!this.store(bytes.toString('utf8', begin, end), row)) return false;
    if (length > SLOT_BYTES) return true;
    for (let i = 0; i < length; i++) this.#known[slot * SLOT_BYTES + i] = bytes[begin + i]!;
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

  #isKnown(at: number, bytes: Buffer, begin: number, length: number): boolean {
    const known = this.#known;
    let i = 0;
    while (i < length && known[at + i] === bytes[begin + i]) i++;
    return i === length;
  }
}
