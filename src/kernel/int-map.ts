const EMPTY = -1;

/**
 * A map from whole numbers to whole numbers (both 0 .. 2^31 - 1) on two typed arrays: open addressing with linear probing,
 * deletion by shifting back, so that lookups never slow down with age. Grows; never shrinks.
 */
export class IntMap {
  #keys: Int32Array;
  #values: Int32Array;
  #mask: number;
  #shift: number;
  #size = 0;

  constructor(expected = 16) {
    let capacity = 16;
    while (capacity < expected * 2) capacity *= 2;
    this.#keys = new Int32Array(capacity).fill(EMPTY);
    this.#values = new Int32Array(capacity);
    this.#mask = capacity - 1;
    this.#shift = Math.clz32(capacity - 1);
  }

  get size(): number {
    return this.#size;
  }

  /** The value of a key, or -1. */
  get(key: number): number {
    const keys = this.#keys;
    const mask = this.#mask;
    let at = Math.imul(key, 0x9e3779b1) >>> this.#shift;
    for (;;) {
      const found = keys[at]!;
      if (found === key) return this.#values[at]!;
      if (found === EMPTY) return -1;
      at = (at + 1) & mask;
    }
  }

  set(key: number, value: number): void {
    const keys = this.#keys;
    const mask = this.#mask;
    let at = Math.imul(key, 0x9e3779b1) >>> this.#shift;
    for (;;) {
      const found = keys[at]!;
      if (found === key) break;
      if (found === EMPTY) {
        if (this.#size * 2 >= mask) {
          this.#grow();
          this.set(key, value);
          return;
        }
        keys[at] = key;
        this.#size++;
        break;
      }
      at = (at + 1) & mask;
    }
    this.#values[at] = value;
  }

  /** Removes a key; whether it was there. */
  delete(key: number): boolean {
    const keys = this.#keys;
    const values = this.#values;
    const mask = this.#mask;
    const shift = this.#shift;
    let hole = Math.imul(key, 0x9e3779b1) >>> shift;
    while (keys[hole] !== key) {
      if (keys[hole] === EMPTY) return false;
      hole = (hole + 1) & mask;
    }
    let at = hole;
    for (;;) {
      at = (at + 1) & mask;
      const moved = keys[at]!;
      if (moved === EMPTY) break;
      const home = Math.imul(moved, 0x9e3779b1) >>> shift;
      // A key may move back into the hole unless its home lies after the hole on the way to where it stands.
      if (((at - home) & mask) >= ((at - hole) & mask)) {
        keys[hole] = moved;
        values[hole] = values[at]!;
        hole = at;
      }
    }
    keys[hole] = EMPTY;
    this.#size--;
    return true;
  }

  clear(): void {
    this.#keys.fill(EMPTY);
    this.#size = 0;
  }

  #grow(): void {
    const keys = this.#keys;
    const values = this.#values;
    const capacity = keys.length * 2;
    this.#keys = new Int32Array(capacity).fill(EMPTY);
    this.#values = new Int32Array(capacity);
    this.#mask = capacity - 1;
    this.#shift = Math.clz32(capacity - 1);
    this.#size = 0;
    for (let at = 0; at < keys.length; at++) if (keys[at] !== EMPTY) this.set(keys[at]!, values[at]!);
  }
}
