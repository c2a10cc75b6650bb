import type { ShadowClock } from './shadow-clock.js';

/** A clock whose time is what the test sets, for shadows that decide when the test says so. */
export class ManualClock implements ShadowClock {
  /** What the gateway has used so far, shadows left out. */
  gatewayUs = 0;
  /** What shadows have used so far. */
  shadowUs: () => number = () => 0;
  busy = false;
  /** How often shadows wanted to be called. */
  scheduled = 0;
  #pending: (() => void)[] = [];

  readonly later = (run: () => void): void => {
    this.scheduled++;
    this.#pending.push(run);
  };

  readonly soon = this.later;

  readonly usedUs = (): number => this.gatewayUs + this.shadowUs();

  readonly isBusy = (): boolean => this.busy;

  /** The shadows decide about everything that waits. */
  settle(): void {
    for (const run of this.#pending.splice(0)) run();
  }
}
