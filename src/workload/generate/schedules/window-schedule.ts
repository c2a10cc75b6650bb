import type { RandomStream } from '../../../kernel/random-stream.js';
import type { GapSampler } from '../../arrivals/arrival-process.js';
import type { Schedule } from './schedule.js';

/** A window with its own rate. */
export interface PlannedWindow {
  startUs: number;
  endUs: number;
  gaps: GapSampler;
  /** Requests of all members together, spread evenly over them; null: as many as the gaps allow. */
  requests: number | null;
}

/**
 * Every window on its own. Where the number of requests is known, one gap more than that is drawn and all are stretched so
 * that they fill the window exactly: the last gap ends with it.
 */
export class WindowSchedule implements Schedule {
  readonly #windows: readonly PlannedWindow[];
  readonly #members: number;
  readonly #horizonUs: number;
  /** By member: its window, how many requests are still to come in it, the sum of the gaps so far, and what stretches it. */
  readonly #window: Int32Array;
  readonly #left: Float64Array;
  readonly #sums: Float64Array;
  readonly #stretch: Float64Array;

  constructor(windows: readonly PlannedWindow[], members: number, horizonUs: number) {
    this.#windows = windows;
    this.#members = members;
    this.#horizonUs = horizonUs;
    this.#window = new Int32Array(members).fill(-1);
    this.#left = new Float64Array(members);
    this.#sums = new Float64Array(members);
    this.#stretch = new Float64Array(members);
  }

  next(member: number, random: RandomStream): number {
    for (;;) {
      if (this.#left[member] === 0 && !this.#open(member, random)) return Number.POSITIVE_INFINITY;
      const { startUs, endUs, gaps, requests } = this.#windows[this.#window[member]!]!;
      const gapUs = gaps.draw(random);
      this.#sums[member]! += requests === null ? Math.max(1, Math.trunc(gapUs)) : gapUs;
      this.#left[member]!--;
      let at = startUs + Math.trunc(this.#sums[member]! * this.#stretch[member]!);
      // The last gap may be too small to be seen.
      if (requests !== null) at = Math.min(at, endUs - 1);
      if (at > this.#horizonUs) return Number.POSITIVE_INFINITY;
      if (at < endUs) return at;
      this.#left[member] = 0;
    }
  }

  lengthsOf(member: number): number {
    return this.#window[member]! + 1;
  }

  /** Advances to the member's next window with requests; returns whether there is one. */
  #open(member: number, random: RandomStream): boolean {
    while (++this.#window[member]! < this.#windows.length) {
      const window = this.#windows[this.#window[member]!]!;
      this.#sums[member] = 0;
      this.#stretch[member] = 1;
      this.#left[member] = Number.POSITIVE_INFINITY;
      if (window.requests === null) return true;
      const own = Math.floor(window.requests / this.#members) + (member < window.requests % this.#members ? 1 : 0);
      this.#left[member] = own;
      if (own === 0) continue;
      this.#stretch[member] = (window.endUs - window.startUs) / sumAhead(window.gaps, own + 1, random);
      return true;
    }
    return false;
  }
}

/** The sum of the next gaps, which are drawn again afterwards: a window is never held in memory. */
function sumAhead(gaps: GapSampler, count: number, random: RandomStream): number {
  const before = random.state();
  let sum = 0;
  for (let i = 0; i < count; i++) sum += gaps.draw(random);
  random.restore(before);
  // Gaps may all be too small for a number to hold.
  return Math.max(sum, Number.MIN_VALUE);
}
