import type { RandomStream } from '../../../kernel/random-stream.js';
import type { GapSampler } from '../../arrivals/arrival-process.js';
import type { ActiveTimes } from './active-times.js';
import type { Schedule } from './schedule.js';

/** One arrival process from the start on; arrivals outside the active times are left out. */
export class SteadySchedule implements Schedule {
  readonly #gaps: GapSampler;
  readonly #active: ActiveTimes | null;
  readonly #horizonUs: number;
  /** By member: its last arrival, and the window that is open then or opens next. */
  readonly #times: Float64Array;
  readonly #windows: Int32Array;

  constructor(gaps: GapSampler, active: ActiveTimes | null, members: number, horizonUs: number) {
    this.#gaps = gaps;
    this.#active = active;
    this.#horizonUs = horizonUs;
    this.#times = new Float64Array(members);
    this.#windows = new Int32Array(active === null ? 0 : members);
  }

  next(member: number, random: RandomStream): number {
    const active = this.#active;
    let at = this.#times[member]!;
    for (;;) {
      at += Math.max(1, Math.trunc(this.#gaps.draw(random)));
      if (at > this.#horizonUs) return Number.POSITIVE_INFINITY;
      const opens = active === null ? 0 : this.#opens(active, member, at);
      if (opens <= at) break;
      if (opens === Number.POSITIVE_INFINITY) return opens;
    }
    this.#times[member] = at;
    return at;
  }

  lengthsOf(): number {
    return 0;
  }

  /** The start of the window that is open at this time, or else of the next one. */
  #opens(active: ActiveTimes, member: number, at: number): number {
    let window = this.#windows[member]!;
    while (active.end(window) <= at) window++;
    this.#windows[member] = window;
    return active.start(window);
  }
}
