/** Does the same work again and again, one after the other: after a while, or when called. */
export class PollLoop {
  readonly #work: () => Promise<number>;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | null = null;
  #isCalled = false;
  #isClosed = false;

  /** @param work returns after how many milliseconds it is repeated; it never throws */
  constructor(work: () => Promise<number>) {
    this.#work = work;
  }

  /** Works now, and once more when it is working already: that began before. */
  call(): void {
    if (this.#isClosed) return;
    this.#isCalled = true;
    if (this.#running !== null) return;
    clearTimeout(this.#timer);
    this.#running = this.#run().finally(() => {
      this.#running = null;
    });
  }

  /** Resolves when it does not work any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #run(): Promise<void> {
    let waitMs = 0;
    while (this.#isCalled && !this.#isClosed) {
      this.#isCalled = false;
      waitMs = await this.#work();
    }
    if (!this.#isClosed) this.#timer = setTimeout(() => this.call(), waitMs);
  }
}
