/** Names as small whole numbers: 0 is the empty name, the rest in order of first appearance. */
export class NameTable {
  readonly #names: string[] = [''];
  readonly #indexes = new Map<string, number>([['', 0]]);

  get size(): number {
    return this.#names.length;
  }

  /** The name's number, giving it the next free one when it is new. */
  index(name: string): number {
    const known = this.#indexes.get(name);
    if (known !== undefined) return known;
    const fresh = this.#names.length;
    this.#names.push(name);
    this.#indexes.set(name, fresh);
    return fresh;
  }

  /** The name's number, or -1 when it was never seen. */
  find(name: string): number {
    return this.#indexes.get(name) ?? -1;
  }

  name(index: number): string {
    return this.#names[index]!;
  }

  names(): readonly string[] {
    return this.#names;
  }
}
