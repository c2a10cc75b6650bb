/** What a shadow may use of the processor time that the gateway uses itself, and what while the gateway is short of time. */
export const MOST_SHARE = 0.08;
export const BUSY_SHARE = 0.01;
/** What may be used at once after a pause, and what a single costly decision may leave to be made up for. */
const MOST_SAVED_US = 20_000;

/** A budget of processor time: the gateway's own work fills it, decisions use it. */
export class ProcessorShare {
  #leftUs = MOST_SAVED_US;

  get isLeft(): boolean {
    return this.#leftUs > 0;
  }

  earn(us: number): void {
    this.#leftUs = Math.min(MOST_SAVED_US, this.#leftUs + us);
  }

  use(us: number): void {
    this.#leftUs = Math.max(-MOST_SAVED_US, this.#leftUs - us);
  }
}
