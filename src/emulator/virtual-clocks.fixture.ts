import type { EngineClock } from './clock.js';

/** Virtual time that jumps to the next alarm when nothing is left to do. */
export class JumpingClock implements EngineClock {
  #nowUs = 0;
  #turn: NodeJS.Immediate | undefined;

  nowUs(): number {
    return this.#nowUs;
  }

  alarm(atUs: number, wake: () => void): void {
    clearImmediate(this.#turn);
    if (atUs === Number.POSITIVE_INFINITY) return;
    this.#turn = setImmediate(() => {
      this.#nowUs = Math.max(this.#nowUs, atUs);
      wake();
    });
  }
}

/** A manual clock. */
export class ManualClock implements EngineClock {
  #nowUs = 0;
  #atUs = Number.POSITIVE_INFINITY;
  #wake: () => void = () => {};

  nowUs(): number {
    return this.#nowUs;
  }

  /** When the next alarm is due. */
  get nextUs(): number {
    return this.#atUs;
  }

  alarm(atUs: number, wake: () => void): void {
    this.#atUs = atUs;
    this.#wake = wake;
  }

  /** Time passes without firing the timer: it fires with the next `runTo`. */
  skipTo(nowUs: number): void {
    this.#nowUs = Math.max(this.#nowUs, nowUs);
  }

  /** Lets time pass up to a moment, alarms on the way included. */
  runTo(untilUs: number): void {
    while (this.#atUs <= untilUs) {
      this.#nowUs = Math.max(this.#nowUs, this.#atUs);
      this.#atUs = Number.POSITIVE_INFINITY;
      this.#wake();
    }
    this.#nowUs = Math.max(this.#nowUs, untilUs);
  }
}
