import { performance } from 'node:perf_hooks';

/** The time of a run, in microseconds from its beginning, and the one timer for the next request. */
export interface SendClock {
  nowUs(): number;
  /** Calls `wake` once, when it is `atUs` and not before. Replaces the alarm before. */
  alarm(atUs: number, wake: () => void): void;
  cancel(): void;
}

/** Timers tick in milliseconds and may be late by one: they are set this much earlier. */
const TIMER_MS = 2;
const LONGEST_MS = 2 ** 31 - 1;

/** The clock of this machine. The last of a wait is waited for turn by turn of the event loop: requests go out on time. */
export class MachineClock implements SendClock {
  readonly #startMs = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #turn: NodeJS.Immediate | undefined;
  #atUs = 0;
  #wake: () => void = () => {};

  nowUs(): number {
    return (performance.now() - this.#startMs) * 1000;
  }

  alarm(atUs: number, wake: () => void): void {
    this.cancel();
    this.#atUs = atUs;
    this.#wake = wake;
    this.#wait();
  }

  cancel(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#turn);
  }

  readonly #wait = (): void => {
    const leftMs = (this.#atUs - this.nowUs()) / 1000;
    if (leftMs <= 0) this.#wake();
    else if (leftMs > TIMER_MS) this.#timer = setTimeout(this.#wait, Math.min(leftMs - TIMER_MS, LONGEST_MS));
    else this.#turn = setImmediate(this.#wait);
  };
}
