/**
 * Limits retries to a share of requests: when everything fails, retrying everything makes it worse. Every request earns
 * a share of a retry; a few are available from the start.
 */
export class RetryBudget {
  /** Requests that have not been credited yet. */
  requests = 0;
  readonly #most: number;
  #share: number;
  #earned: number;

  /** @param most retries that can be saved: enough for the bursts of a replica that fails for moments */
  constructor(share: number, most = 30) {
    this.#share = share;
    this.#most = most;
    this.#earned = share > 0 ? most : 0;
  }

  /** Applies to new requests: what has been earned stays. */
  set share(share: number) {
    this.#credit();
    this.#share = share;
  }

  /** Whether one more attempt is affordable; takes it if so. */
  spend(): boolean {
    this.#credit();
    if (this.#earned < 1) return false;
    this.#earned -= 1;
    return true;
  }

  #credit(): void {
    this.#earned = Math.min(this.#most, this.#earned + this.requests * this.#share);
    this.requests = 0;
  }
}
