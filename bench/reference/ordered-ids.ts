interface Link {
  before: number;
  after: number;
}

const END = -1;

/** Whole numbers in the order in which they were added; any one can be taken out. The free list and the LRUs are made of it. */
export class OrderedIds {
  readonly #links = new Map<number, Link>();
  #first = END;
  #last = END;

  get size(): number {
    return this.#links.size;
  }

  has(id: number): boolean {
    return this.#links.has(id);
  }

  addLast(id: number): void {
    this.#links.set(id, { before: this.#last, after: END });
    if (this.#last === END) this.#first = id;
    else this.#links.get(this.#last)!.after = id;
    this.#last = id;
  }

  remove(id: number): void {
    const { before, after } = this.#links.get(id)!;
    this.#links.delete(id);
    if (before === END) this.#first = after;
    else this.#links.get(before)!.after = after;
    if (after === END) this.#last = before;
    else this.#links.get(after)!.before = before;
  }

  takeFirst(): number {
    const first = this.#first;
    this.remove(first);
    return first;
  }
}
