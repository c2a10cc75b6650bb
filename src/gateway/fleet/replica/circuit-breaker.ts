export interface BreakerOptions {
  /** Failures in a row that open it. */
  failures: number;
  /** How long it then blocks requests before it admits a probe. */
  openMs: number;
}

const NO_REQUEST = -1;

/**
 * Blocks requests to a replica that fails them. Only failures of the replica count: client errors (any 4xx) do not.
 * While it is open, one request at a time probes the replica, and only the result of the probe counts: requests sent
 * before it opened are ignored.
 */
export class CircuitBreaker {
  options: BreakerOptions;
  isOpen = false;
  #failures = 0;
  #openedAtMs = 0;
  /** The probe request. */
  #trial = NO_REQUEST;

  constructor(options: BreakerOptions) {
    this.options = options;
  }

  /** Whether a request may go there now. */
  allows(nowMs: number): boolean {
    if (!this.isOpen) return true;
    return this.#trial === NO_REQUEST && nowMs - this.#openedAtMs >= this.options.openMs;
  }

  /** A request is placed: when the breaker is open, it is the probe. */
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

  /** The request has ended in any way. If it was the probe and had no result, another may probe. */
  released(request: number): void {
    if (request === this.#trial) this.#trial = NO_REQUEST;
  }
}
