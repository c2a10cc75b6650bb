/**
 * Of one core: what the thread of a fit takes on average. With the garbage collector and the compiler, which have threads of
 * their own, fits take at most 5 %.
 */
export const FIT_SHARE = 0.035;

/** Keeps work within a share of a core: every piece of work is followed by a pause in proportion. */
export class ProcessorBudget {
  /** Spent on work so far. */
  busyMs = 0;
  readonly #share: number;
  readonly #nowMs: () => number;
  readonly #sleep: (ms: number) => void;
  #resumedMs: number;

  /** @param sinceMs when the first piece of work began */
  constructor(share: number, nowMs: () => number, sleep: (ms: number) => void, sinceMs = nowMs()) {
    this.#share = share;
    this.#nowMs = nowMs;
    this.#sleep = sleep;
    this.#resumedMs = sinceMs;
  }

  /** Called between pieces of work: sleeps for what the last one has cost. */
  readonly pace = (): void => {
    this.#sleep(this.settle());
    this.#resumedMs = this.#nowMs();
  };

  /** Counts the last piece of work; returns the pause that is due for it. */
  settle(): number {
    const nowMs = this.#nowMs();
    const spentMs = nowMs - this.#resumedMs;
    this.#resumedMs = nowMs;
    this.busyMs += spentMs;
    return spentMs * (1 / this.#share - 1);
  }
}
