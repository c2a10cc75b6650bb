export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Waits for what a state becomes, without polling it. */
export class ChangeSignal {
  readonly #waiting = new Set<() => void>();

  constructor(private readonly closed: AbortSignal) {}

  /** The state has changed. */
  notify(): void {
    for (const look of [...this.#waiting]) look();
  }

  /** Resolves when it is true, late, or over. */
  async until(isTrue: () => boolean, mostMs: number, over = this.closed): Promise<void> {
    if (isTrue() || over.aborted) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        over.removeEventListener('abort', end);
        resolve();
      };
      const look = () => {
        if (isTrue()) end();
      };
      const timer = setTimeout(end, Math.min(mostMs, LONGEST_TIMER_MS));
      this.#waiting.add(look);
      over.addEventListener('abort', end);
    });
  }
}
