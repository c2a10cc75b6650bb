/**
 * Retries as a share of requests: when everything fails, trying again everywhere makes it worse. Every request earns a share
 * of a retry; a few are there from the start.
 */
export class RetryBudget {
  /** May change: what has been earned stays. */
  share: number;
  readonly #most: number;
  #earned: number;

  constructor(share: number, most = 10) {
    this.share = share;
    this.#most = most;
    this.#earned = share > 0 ? most : 0;
  }

  request(): void {
    this.#earned = Math.min(this.#most, this.#earned + this.share);
  }

  /** Whether one more try is affordable; takes it if so. */
  spend(): boolean {
    if (this.#earned < 1) return false;
    this.#earned -= 1;
    return true;
  }
}
