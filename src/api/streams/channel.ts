/** A queue with several writers and one reader. `put` resolves when the item has been read, or the channel has ended. */
export class Channel<Item> {
  readonly #items: { readonly item: Item; readonly taken: () => void }[] = [];
  #wake = () => {};
  #isOver = false;
  #failure: { readonly error: unknown } | null = null;

  put(item: Item): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    return new Promise((taken) => {
      this.#items.push({ item, taken });
      this.#wake();
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    this.#isOver = true;
    for (const { taken } of this.#items.splice(0)) taken();
    this.#wake();
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    for (;;) {
      const first = this.#items.shift();
      if (first !== undefined) {
        yield first.item;
        first.taken();
      } else if (this.#failure !== null) throw this.#failure.error;
      else if (this.#isOver) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
