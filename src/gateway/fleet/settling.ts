/** How long a request waits at most. Checking and adopting replicas takes a fraction of it. */
const LONGEST_MS = 30_000;

/**
 * The time after a start in which replicas have not been checked, or the control plane has not declared all its endpoints.
 * Requests that no ready replica can take wait for its end: one may be serving already.
 */
export class Settling {
  readonly #waiting = new Map<() => void, NodeJS.Timeout>();
  /** What has not ended yet. */
  readonly #parts = new Set<object>();

  constructor(private readonly longestMs = LONGEST_MS) {}

  get isOn(): boolean {
    return this.#parts.size > 0;
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Begins a part of it; returns the function that ends the part. */
  begin(): () => void {
    const part = {};
    this.#parts.add(part);
    return () => {
      if (this.#parts.delete(part) && !this.isOn) this.#release();
    };
  }

  /** Ends all of it. */
  close(): void {
    this.#parts.clear();
    this.#release();
  }

  /** In order of arrival. */
  #release(): void {
    for (const [go, timer] of [...this.#waiting]) {
      clearTimeout(timer);
      this.#waiting.delete(go);
      go();
    }
  }

  /** Calls `go` once, at the end or when the time is over; returns the function that prevents it. */
  hold(go: () => void): () => void {
    const timer = setTimeout(() => {
      this.#waiting.delete(go);
      go();
    }, this.longestMs);
    this.#waiting.set(go, timer);
    return () => {
      clearTimeout(timer);
      this.#waiting.delete(go);
    };
  }
}
