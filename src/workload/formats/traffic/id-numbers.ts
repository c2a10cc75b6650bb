/**
 * Numbers for ids in order of appearance, by 64 bits of each: a recording has millions of ids, and a map of texts would take
 * several times the memory and the time. A collision of all 64 bits is not expected.
 */
export class IdNumbers {
  size = 0;
  /** Open addressing: one more than the number, 0 for a free slot. At most half of them are taken. */
  #slots = new Int32Array(2048);
  /** By number. */
  #first = new Int32Array(1024);
  #second = new Int32Array(1024);

  of(id: string): number {
    let first = 0x9e3779b9 | 0;
    let second = 0x85ebca6b | 0;
    for (let i = 0; i < id.length; i++) {
      const code = id.charCodeAt(i);
      first = Math.imul(first ^ code, 0x01000193) ^ (second >>> 15);
      second = Math.imul(second + code, 0xc2b2ae35 | 0) ^ (first >>> 13);
    }
    let slot = this.#slotOf(first, second);
    if (this.#slots[slot]! > 0) return this.#slots[slot]! - 1;
    if (this.size === this.#first.length) {
      this.#grow();
      slot = this.#slotOf(first, second);
    }
    this.#first[this.size] = first;
    this.#second[this.size] = second;
    this.#slots[slot] = ++this.size;
    return this.size - 1;
  }

  /** The slot that holds these bits, or the free one where they belong. */
  #slotOf(first: number, second: number): number {
    const mask = this.#slots.length - 1;
    let slot = (first ^ (second >>> 7)) & mask;
    for (let taken = this.#slots[slot]!; taken > 0; taken = this.#slots[slot]!) {
      if (this.#first[taken - 1] === first && this.#second[taken - 1] === second) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #grow(): void {
    const [first, second] = [this.#first, this.#second];
    this.#slots = new Int32Array(this.#slots.length * 2);
    this.#first = new Int32Array(first.length * 2);
    this.#second = new Int32Array(first.length * 2);
    this.#first.set(first);
    this.#second.set(second);
    for (let number = 0; number < this.size; number++) {
      this.#slots[this.#slotOf(first[number]!, second[number]!)] = number + 1;
    }
  }
}
