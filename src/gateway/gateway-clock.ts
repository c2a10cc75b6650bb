/** The gateway's clock: it begins when the gateway is created and never goes back. */
export class GatewayClock {
  readonly #startedMs = performance.now();
  /** Microseconds since 1970 at which it began. */
  readonly epochUs = Math.round((performance.timeOrigin + this.#startedMs) * 1000);

  readonly nowMs = (): number => performance.now() - this.#startedMs;

  readonly nowUs = (): number => Math.round((performance.now() - this.#startedMs) * 1000);
}
