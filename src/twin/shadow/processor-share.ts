/** The share of one processor that a shadow may use, and that it may use while the gateway itself is short of time. */
export const MOST_SHARE = 0.1;
export const BUSY_SHARE = 0.01;
/** What may be used at once after a pause. */
const MOST_SAVED_US = 20_000;

/** A budget of processor time that fills up at a constant rate. */
export class ProcessorShare {
  #leftUs = MOST_SAVED_US;
  #atUs: number;

  constructor(nowUs: number) {
    this.#atUs = nowUs;
  }

  /** Whether anything is left. @param share what it may use of the time since the last call */
  has(nowUs: number, share: number): boolean {
    const passedUs = Math.max(0, nowUs - this.#atUs);
    this.#atUs = nowUs;
    this.#leftUs = Math.min(MOST_SAVED_US, this.#leftUs + passedUs * share);
    return this.#leftUs > 0;
  }

  use(us: number): void {
    this.#leftUs -= us;
  }
}
