const EMPTY = -1;

/**
 * A map from whole numbers to whole numbers (both 0 .. 2^31 - 1) on a typed array, key and value in turn so that one line
 * of the processor's cache has both: open addressing with linear probing, deletion by shifting back, so that lookups
 * never slow down with age. Grows; never shrinks.
 */
export class IntMap {
  #table: Int32Array;
  /** Of a place of a key: the table's length less two. */
  #mask: number;
  #shift: number;
  #size = 0;

  constructor(expected = 16) {
    let capacity = 16;
    while (capacity < expected * 2) capacity *= 2;
    this.#table = new Int32Array(2 * capacity).fill(EMPTY);
    this.#mask = 2 * capacity - 2;
    this.#shift = Math.clz32(capacity - 1);
  }

  get size(): number {
    return this.#size;
  }

  /** The value of a key, or -1. */
  get(key: number): number {
    const table = this.#table;
    const mask = this.#mask;
    let at = (Math.imul(key, 0x9e3779b1) >>> this.#shift) * 2;
    for (;;) {
      const found = table[at]!;
      if (found === key) return table[at + 1]!;
      if (found === EMPTY) return -1;
      at = (at + 2) & mask;
    }
  }

  set(key: number, value: number): void {
    const table = this.#table;
    const mask = this.#mask;
    let at = (Math.imul(key, 0x9e3779b1) >>> this.#shift) * 2;
    for (;;) {
      const found = table[at]!;
      if (found === key) break;
      if (found === EMPTY) {
        if (this.#size * 4 >= mask) {
          this.#grow();
          this.set(key, value);
          return;
        }
        table[at] = key;
        this.#size++;
        break;
      }
      at = (at + 2) & mask;
    }
    table[at + 1] = value;
  }

  /** Removes a key; whether it was there. */
  delete(key: number): boolean {
    const table = this.#table;
    const mask = this.#mask;
    const shift = this.#shift;
    let hole = (Math.imul(key, 0x9e3779b1) >>> shift) * 2;
    while (table[hole] !== key) {
      if (table[hole] === EMPTY) return false;
      hole = (hole + 2) & mask;
    }
    let at = hole;
    for (;;) {
      at = (at + 2) & mask;
      const moved = table[at]!;
      if (moved === EMPTY) break;
      const home = (Math.imul(moved, 0x9e3779b1) >>> shift) * 2;
      // A key may move back into the hole unless its home lies after the hole on the way to where it stands.
      if (((at - home) & mask) >= ((at - hole) & mask)) {
        table[hole] = moved;
        table[hole + 1] = table[at + 1]!;
        hole = at;
      }
    }
    table[hole] = EMPTY;
    this.#size--;
    return true;
  }

  /** Any number that depends on where a key would be: reading several of them at once fetches them all into the cache. */
  peek(key: number): number {
    return this.#table[(Math.imul(key, 0x9e3779b1) >>> this.#shift) * 2]!;
  }

  clear(): void {
    this.#table.fill(EMPTY);
    this.#size = 0;
  }

  #grow(): void {
    const table = this.#table;
    const capacity = table.length;
    this.#table = new Int32Array(2 * capacity).fill(EMPTY);
    this.#mask = 2 * capacity - 2;
    this.#shift = Math.clz32(capacity - 1);
    this.#size = 0;
    for (let at = 0; at < table.length; at += 2) if (table[at] !== EMPTY) this.set(table[at]!, table[at + 1]!);
  }
}
