export interface BreakerOptions {
  /** Failures in a row that open it. */
  failures: number;
  /** How long it then keeps requests away before it lets one try. */
  openMs: number;
}

/**
 * Keeps requests away from a replica that fails them. Only failures of the replica count: what a client did wrong (any 4xx)
 * says nothing about it.
 */
export class CircuitBreaker {
  readonly #options: BreakerOptions;
  #failures = 0;
  #openedAtMs = Number.NaN;
  /** A request is trying whether the replica is back. */
  #trying = false;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** Whether a request may go there now. */
  allows(nowMs: number): boolean {
    if (Number.isNaN(this.#openedAtMs)) return true;
    return !this.#trying && nowMs - this.#openedAtMs >= this.#options.openMs;
  }

  get isOpen(): boolean {
    return !Number.isNaN(this.#openedAtMs);
  }

  /** A request goes there: when the breaker is open, it is the one that tries. */
  placed(): void {
    if (this.isOpen) this.#trying = true;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openedAtMs = Number.NaN;
    this.#trying = false;
  }

  failed(nowMs: number): void {
    this.#failures++;
    if (this.#trying || this.#failures >= this.#options.failures) this.#openedAtMs = nowMs;
    this.#trying = false;
  }

  /** A request ended in a way that says nothing: its client left, or it was wrong. */
  undecided(): void {
    this.#trying = false;
  }
}
