export interface BreakerOptions {
  /** Failures in a row that open it. */
  failures: number;
  /** How long it then keeps requests away before it lets one try. */
  openMs: number;
}

const NO_REQUEST = -1;

/**
 * Keeps requests away from a replica that fails them. Only failures of the replica count: what a client did wrong (any 4xx)
 * says nothing about it. While it is open, one request at a time may try whether the replica is back, and only that one's
 * end counts: those that were under way before say nothing new.
 */
export class CircuitBreaker {
  options: BreakerOptions;
  isOpen = false;
  #failures = 0;
  #openedAtMs = 0;
  /** The request that tries whether the replica is back. */
  #trial = NO_REQUEST;

  constructor(options: BreakerOptions) {
    this.options = options;
  }

  /** Whether a request may go there now. */
  allows(nowMs: number): boolean {
    if (!this.isOpen) return true;
    return this.#trial === NO_REQUEST && nowMs - this.#openedAtMs >= this.options.openMs;
  }

  /** A request goes there: when the breaker is open, it is the one that tries. */
  placed(request: number): void {
    if (this.isOpen) this.#trial = request;
  }

  succeeded(request: number): void {
    if (this.isOpen && request !== this.#trial) return;
    this.#failures = 0;
    this.isOpen = false;
  }

  failed(request: number, nowMs: number): void {
    if (this.isOpen && request !== this.#trial) return;
    this.#failures++;
    if (!this.isOpen && this.#failures < this.options.failures) return;
    this.isOpen = true;
    this.#openedAtMs = nowMs;
  }

  /** The request is gone, in whatever way. If it was the one that tried and nothing was learnt, another may. */
  released(request: number): void {
    if (request === this.#trial) this.#trial = NO_REQUEST;
  }
}
