import { BUSY_SHARE, MOST_SHARE } from './processor-share.js';
import type { ShadowClock } from './shadow-clock.js';

/** Requests after which the mean time of one is half forgotten. */
const REMEMBERED = 256;

/**
 * What a shadow of an endpoint earns: a share of the processor time that the gateway uses itself, as much of it as the endpoint has of
 * the gateway's requests. What shadows use does not earn them more.
 */
export class EarnedTime {
  /** Since it was looked at before. */
  us = 0;
  /** By the next request, on average. */
  usPerRequest = 0;
  readonly #clock: ShadowClock;
  /** Until when the time is counted, in processor time without that of these shadows. */
  #usedUs: number;
  #beganUs = 0;
  /** The number of the last decision of the gateway; 0 before the first. */
  #decision = 0;
  /** What the gateway takes for a request on average. */
  #requestUs = 0;

  constructor(clock: ShadowClock) {
    this.#clock = clock;
    this.#usedUs = clock.usedUs();
  }

  /**
   * Before shadows decide. Returns what has been used by now.
   * @param requests of the endpoint since the last time
   * @param decision number of the last one among those of all endpoints
   */
  begin(requests: number, decision: number, isBusy: boolean): number {
    const nowUs = this.#clock.usedUs();
    const all = this.#decision === 0 ? requests : Math.max(requests, decision - this.#decision);
    const share = isBusy ? BUSY_SHARE : MOST_SHARE;
    this.us = 0;
    this.#beganUs = nowUs;
    if (requests > 0) {
      const requestUs = (nowUs - this.#usedUs) / all;
      const weight = this.#requestUs === 0 ? 1 : requests / (requests + REMEMBERED);
      this.#requestUs += weight * (requestUs - this.#requestUs);
      this.us = share * requestUs * requests;
      this.#decision = decision;
      this.#usedUs = nowUs;
    }
    this.usPerRequest = share * this.#requestUs;
    return nowUs;
  }

  /** After they have decided. @param usedUs by now */
  end(usedUs: number): void {
    this.#usedUs += usedUs - this.#beganUs;
  }
}
