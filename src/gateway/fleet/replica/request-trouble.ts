/** How long failed requests count after the last one: there may have been no request since. */
const FAILING_MS = 60_000;

/** Statuses that say nothing about the health of an API: it is rate-limiting, or the request came too slowly. */
const SAYS_NOTHING: readonly number[] = [408, 429];

/**
 * Problems of an external API found by requests. The list of its models, used as the health check, may not show them:
 * many APIs serve it without a valid credential, and while nothing else works.
 */
export class RequestTrouble {
  #refusal = '';
  #failure = '';
  #failedMs = 0;
  /** The last failure. */
  #last = '';

  /** A response has begun. Returns whether it newly shows a refused credential. */
  answered(status: number): boolean {
    if (status === 401 || status === 403) return this.#refused(status);
    if (status >= 500) this.#last = `status ${status}`;
    else if (!SAYS_NOTHING.includes(status)) this.clear();
    return false;
  }

  /** There was no response. */
  broke(problem: string): void {
    this.#last = problem;
  }

  /** The breaker has opened because of failed requests. */
  failing(nowMs: number): void {
    this.#failure = `fails requests: ${this.#last}`;
    this.#failedMs = nowMs;
  }

  /**
   * A check has found the API healthy again: failures are cleared. A refused credential may still be refused.
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
