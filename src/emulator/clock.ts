import { performance } from 'node:perf_hooks';

/** The clock of an engine, in microseconds of model time, and its single alarm. */
export interface EngineClock {
  /** Never goes back. */
  nowUs(): number;
  /** Calls `wake` once, as soon as it is `atUs`. Replaces the alarm before; Infinity: none. */
  alarm(atUs: number, wake: () => void): void;
}

/** Shorter waits end with the next tick of the timer: busy-waiting for the exact time would use the whole process. */
const SHORT_MS = 2;
/** How early or late a timer may be. */
const TIMER_MS = 1;

/**
 * The wall clock, running `speed` times as fast. Timers tick in milliseconds and may be late by one, so a timer is set
 * for the millisecond before, and the rest is spent in turns of the event loop.
 */
export class WallClock implements EngineClock {
  readonly #speed: number;
  readonly #startMs = performance.now();
  #atUs = Number.POSITIVE_INFINITY;
  #wake: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #turn: NodeJS.Immediate | undefined;

  constructor(speed: number) {
    this.#speed = speed;
  }

  nowUs(): number {
    return (performance.now() - this.#startMs) * 1000 * this.#speed;
  }

  alarm(atUs: number, wake: () => void): void {
    this.#wake = wake;
    if (atUs === this.#atUs) return;
    this.#cancel();
    this.#atUs = atUs;
    if (atUs === Number.POSITIVE_INFINITY) return;
    const leftMs = this.#leftMs();
    if (leftMs >= SHORT_MS) this.#set(leftMs);
    else this.#timer = setTimeout(this.#ring, leftMs);
  }

  #leftMs(): number {
    return (this.#atUs - this.nowUs()) / 1000 / this.#speed;
  }

  /** Timers take at most 2^31 - 1 ms; the alarm is set again when they are over. */
  #set(leftMs: number): void {
    this.#timer = setTimeout(this.#nearly, Math.min(leftMs - TIMER_MS, 2 ** 31 - 1));
  }

  readonly #nearly = (): void => {
    const leftMs = this.#leftMs();
    if (leftMs <= 0) this.#ring();
    else if (leftMs > SHORT_MS) this.#set(leftMs);
    else this.#turn = setImmediate(this.#nearly);
  };

  readonly #ring = (): void => {
    this.#cancel();
    this.#wake();
  };

  #cancel(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#turn);
    this.#atUs = Number.POSITIVE_INFINITY;
  }
}
