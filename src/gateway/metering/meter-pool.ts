import { ResponseMeter } from './response-meter.js';

/** Meters of requests that have ended, for those to come: there are never more than were under way at one time. */
export class MeterPool {
  readonly #free: ResponseMeter[] = [];

  /** A meter for a request that has no response yet. */
  take(): ResponseMeter {
    return this.#free.pop() ?? new ResponseMeter();
  }

  /** The request has ended and nobody asks the meter any more: it forgets everything. */
  give(meter: ResponseMeter): void {
    meter.begin('opaque', false);
    this.#free.push(meter);
  }
}
