import { AnswerMeter } from './answer-meter.js';

/** Meters of requests that have ended, for those to come: there are never more than were under way at one time. */
export class MeterPool {
  readonly #free: AnswerMeter[] = [];

  /** A meter for a request that has no answer yet. */
  take(): AnswerMeter {
    return this.#free.pop() ?? new AnswerMeter();
  }

  /** The request has ended and nobody asks the meter any more: it forgets everything. */
  give(meter: AnswerMeter): void {
    meter.begin('opaque', false);
    this.#free.push(meter);
  }
}
