import type { Schedule } from './schedule.js';

/** Every member sends once, at a set time. */
export class LoneSchedule implements Schedule {
  readonly #atUs: number;
  readonly #done: Uint8Array;

  constructor(atUs: number, members: number, horizonUs: number) {
    this.#atUs = atUs > horizonUs ? Number.POSITIVE_INFINITY : atUs;
    this.#done = new Uint8Array(members);
  }

  next(member: number): number {
    if (this.#done[member] === 1) return Number.POSITIVE_INFINITY;
    this.#done[member] = 1;
    return this.#atUs;
  }

  lengthsOf(): number {
    return 0;
  }
}
