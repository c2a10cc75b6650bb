/** Failed requests count for so long after the last of them: there may have been no request since. */
const FAILING_MS = 60_000;

/** Statuses that say nothing about the health of an API: it is rate-limiting, or the request came too slowly. */
const SAYS_NOTHING: readonly number[] = [408, 429];

/**
 * What requests have found wrong with an external API. The list of its models, by which it is checked, need not show
 * it: many show that without a valid credential, and while nothing else works.
 */
export class RequestTrouble {
  #refusal = '';
  #failure = '';
  #failedMs = 0;
  /** The last failure. */
  #last = '';

  /** A response has begun. Returns whether that is news of a refusal. */
  answered(status: number): boolean {
    if (status === 401 || status === 403) return this.#refused(status);
    if (status >= 500) this.#last = `status ${status}`;
    else if (!SAYS_NOTHING.includes(status)) this.clear();
    return false;
  }

  /** There was none. */
  broke(problem: string): void {
    this.#last = problem;
  }

  /** So many requests have failed that others are kept away. */
  failing(nowMs: number): void {
    this.#failure = `fails requests: ${this.#last}`;
    this.#failedMs = nowMs;
  }

  /**
   * A check found it well that had found it ill: what failed because of that is over. What it refused it may refuse
   * still.
   */
  recovered(): void {
    this.#failure = '';
  }

  clear(): void {
    this.#refusal = '';
    this.#failure = '';
  }

  /** In words, empty when there is none. */
  at(nowMs: number): string {
    if (this.#refusal !== '') return this.#refusal;
    return nowMs - this.#failedMs < FAILING_MS ? this.#failure : '';
  }

  #refused(status: number): boolean {
    const isNews = this.#refusal === '';
    this.#refusal = `refuses the credential: requests get ${status}`;
    return isNews;
  }
}
