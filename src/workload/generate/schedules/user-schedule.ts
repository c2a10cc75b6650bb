import type { ActiveTimes } from './active-times.js';
import type { Schedule } from './schedule.js';

/**
 * The first request of every user who waits for responses: spread evenly over one pause, so that users are not in step.
 */
export class UserSchedule implements Schedule {
  readonly #users: number;
  readonly #thinkUs: number;
  readonly #startUs: number;
  readonly #horizonUs: number;
  #started = 0;

  constructor(users: number, thinkUs: number, active: ActiveTimes | null, horizonUs: number) {
    this.#users = users;
    this.#thinkUs = thinkUs;
    this.#startUs = active?.start(0) ?? 0;
    this.#horizonUs = horizonUs;
  }

  next(): number {
    if (this.#started === this.#users) return Number.POSITIVE_INFINITY;
    const at = this.#startUs + Math.trunc((this.#started++ * this.#thinkUs) / this.#users);
    return at > this.#horizonUs ? Number.POSITIVE_INFINITY : at;
  }

  lengthsOf(): number {
    return 0;
  }
}
