/** A store that is there responds within this time, however busy it is. */
const WAIT_MS = 1000;

/**
 * What a store says, or what it said last: readers do not wait for one that is away. Every reader reads again, and waits a moment
 * for it, unless an earlier read has had no response by then.
 */
export class LastKnown<Value> {
  readonly #read: () => Promise<Value>;
  readonly #waitMs: number;
  #last: { readonly value: Value } | null = null;
  /** Reads that have taken too long and have not ended. */
  #late = 0;

  constructor(read: () => Promise<Value>, waitMs = WAIT_MS) {
    this.#read = read;
    this.#waitMs = waitMs;
  }

  /** Null where the store has not said anything yet and does not respond; rejects where it has failed instead. */
  async get(): Promise<{ readonly value: Value } | null> {
    if (this.#late > 0) return this.#last;
    const reading = this.#again();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), this.#waitMs);
    });
    const ended = await Promise.race([reading, late]).finally(() => clearTimeout(timer));
    if (ended === 'late') {
      this.#late++;
      void reading.catch(() => {}).finally(() => this.#late--);
    }
    return this.#last;
  }

  async #again(): Promise<void> {
    try {
      this.#last = { value: await this.#read() };
    } catch (error) {
      if (this.#last === null) throw error;
    }
  }
}
