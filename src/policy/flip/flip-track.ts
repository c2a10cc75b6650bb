import type { FlipSignal } from './flip-signals.js';

/** The values of one signal of one replica in one direction, from the nearest to the present one to the bound. */
export class FlipTrack {
  readonly signal: FlipSignal;
  readonly slot: number;
  /** Values on the way to the bound. */
  readonly length: number;
  /** The greatest step that was tried; 0 for none. */
  tried = 0;
  readonly from: number;
  readonly #start: number;
  readonly #direction: 1 | -1;

  constructor(signal: FlipSignal, slot: number, direction: 1 | -1) {
    const { column, greatest, least, perUnit } = signal;
    const bound = (direction > 0 ? greatest : least) * perUnit;
    this.signal = signal;
    this.slot = slot;
    this.from = column[slot]!;
    this.#direction = direction;
    this.#start = direction > 0 ? Math.floor(this.from * perUnit) : Math.ceil(this.from * perUnit);
    // A prediction that is not known is not a number: it has no other values.
    this.length = Math.max(0, (bound - this.#start) * direction || 0);
  }

  /** The value after this many steps. */
  value(steps: number): number {
    return (this.#start + this.#direction * steps) / this.signal.perUnit;
  }

  /** How large the change is, in requests. */
  size(steps: number): number {
    return Math.abs(this.value(steps) - this.from) / this.signal.scale;
  }

  /** The most steps of a change of at most this size. */
  stepsWithin(size: number): number {
    const { perUnit, scale } = this.signal;
    // One more than the quotient: the first step of a share may be a fraction of one.
    let steps = Math.min(this.length, Math.floor(size * scale * perUnit) + 1);
    while (steps > 0 && this.size(steps) > size) steps--;
    return steps;
  }
}
