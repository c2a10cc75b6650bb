/** The part of a turn of the event loop that one piece of work may take before others get theirs. */
const BUDGET_MS = 8;
/** Taken once: a test that stops the clocks, or moves them on, does not do so with the event loop. */
const { setImmediate: nextTurn } = globalThis;
const clockMs = performance.now.bind(performance);

/**
 * Splits long work into turns of the event loop, so that requests never wait for all of it. Work that shares one
 * `Turns` shares its part of each turn.
 */
export class Turns {
  #since: number | null = null;
  /** How many turns were given up; for tests and benchmarks. */
  given = 0;

  /** @param now milliseconds of a clock that never goes back */
  constructor(
    private readonly budgetMs = BUDGET_MS,
    private readonly now: () => number = clockMs,
  ) {}

  /** Null while this turn has time left; otherwise a promise of the next turn. Await it between two steps. */
  next(): Promise<void> | null {
    if (this.#since === null) {
      this.#since = this.now();
      nextTurn(() => {
        this.#since = null;
      });
      return null;
    }
    if (this.now() - this.#since < this.budgetMs) return null;
    this.given++;
    return new Promise((resolve) => nextTurn(resolve));
  }
}
