import { FailureShare } from './failure-share.js';

export interface BreakerOptions {
  /** Failures in a row that open it. */
  failures: number;
  /** The share of failed requests within `windowMs` that opens it; a window of 0 ms: only failures in a row do. */
  share: number;
  windowMs: number;
  /** How long it then blocks requests before it admits a probe, unless a health check passes earlier. */
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
  readonly #recent = new FailureShare();
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

  isProbe(request: number): boolean {
    return this.isOpen && request === this.#trial;
  }

  /** The first byte of a response: of a probe that is enough, however long the response takes. */
  responded(request: number): void {
    if (this.isProbe(request)) this.#close();
  }

  succeeded(request: number, nowMs: number): void {
    if (this.isOpen) {
      if (request !== this.#trial) return;
      this.#close();
    }
    this.#failures = 0;
    this.#recent.count(false, nowMs, this.options.windowMs);
  }

  failed(request: number, nowMs: number): void {
    if (this.isOpen && request !== this.#trial) return;
    this.#count(nowMs);
  }

  /** A request that has left the replica turns out to have been failed by it. */
  failedBefore(nowMs: number): void {
    if (!this.isOpen) this.#count(nowMs);
  }

  /** Admits the next probe without a further wait. */
  halfOpen(): void {
    this.#openedAtMs = Number.NEGATIVE_INFINITY;
  }

  /** The request has ended in any way. If it was the probe and had no result, another may probe. */
  released(request: number): void {
    if (request === this.#trial) this.#trial = NO_REQUEST;
  }

  #count(nowMs: number): void {
    const { failures, share, windowMs } = this.options;
    this.#failures++;
    this.#recent.count(true, nowMs, windowMs);
    if (!this.isOpen && this.#failures < failures && !this.#recent.reaches(share)) return;
    this.isOpen = true;
    this.#openedAtMs = nowMs;
  }

  #close(): void {
    this.isOpen = false;
    this.#failures = 0;
    this.#recent.clear();
  }
}
