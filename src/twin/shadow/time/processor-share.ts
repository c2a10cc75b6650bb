/** What a shadow may use of the processor time that the gateway uses itself, and what while the gateway is short of time. */
export const MOST_SHARE = 0.06;
export const BUSY_SHARE = 0.03;
/** What may be used at once after a pause, and what a single costly decision may leave to be made up for. */
const MOST_SAVED_US = 20_000;
/** Decisions after which the mean cost of one is half forgotten. */
const REMEMBERED = 128;

/** A budget of processor time: the gateway's own work fills it, decisions use it. It says how many decisions can be afforded. */
export class ProcessorShare {
  /** The share of the next requests about which decisions can be made. */
  chance = 1;
  #leftUs = MOST_SAVED_US;
  /** What a decision takes on average. */
  #decisionUs = 0;

  get isLeft(): boolean {
    return this.#leftUs > 0;
  }

  earn(us: number): void {
    this.#leftUs = Math.min(MOST_SAVED_US, this.#leftUs + us);
  }

  use(us: number, decisions: number): void {
    this.#leftUs = Math.max(-MOST_SAVED_US, this.#leftUs - us);
    if (decisions === 0) return;
    const weight = this.#decisionUs === 0 ? 1 : decisions / (decisions + REMEMBERED);
    this.#decisionUs += weight * (us / decisions - this.#decisionUs);
  }

  /**
   * Sets the chance so that about half of what may be saved stays: neither idle nor in debt. The more is saved, the greater it is,
   * up to 1: a first decision that took long, because its code was new, is not taken for the usual for long.
   * @param us what a request earns
   */
  plan(us: number): void {
    const filled = this.#leftUs / (MOST_SAVED_US - this.#leftUs);
    if (!this.isLeft) this.chance = 0;
    else this.chance = this.#decisionUs === 0 ? 1 : Math.min(1, (filled * us) / this.#decisionUs);
  }
}
