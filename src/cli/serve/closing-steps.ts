/**
 * The steps of a stop, one after the other, which share a time: a store or a cluster that is away must not hold up the rest. A step
 * that fails or takes too long is reported, and goes on in the background.
 */
export class ClosingSteps {
  readonly #say: (line: string) => void;
  readonly #isOver: Promise<'late'>;
  #timer: NodeJS.Timeout | undefined;

  constructor(withinMs: number, say: (line: string) => void) {
    this.#say = say;
    this.#isOver = new Promise((resolve) => {
      this.#timer = setTimeout(() => resolve('late'), withinMs);
    });
  }

  /** Returns what `work` resolves with; undefined when that fails or takes too long. */
  async run<Value>(what: string, work: () => Promise<Value> | undefined): Promise<Value | undefined> {
    const done = (async () => ({ value: await work() }))().catch((error: Error) => ({ error }));
    const ended = await Promise.race([done, this.#isOver]);
    if (ended === 'late') this.#say(`warning: stopping without waiting for ${what}, which takes too long`);
    else if ('error' in ended) this.#say(`warning: ${what} did not stop properly: ${ended.error.message}`);
    else return ended.value;
    return undefined;
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
