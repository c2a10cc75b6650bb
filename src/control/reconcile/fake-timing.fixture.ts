import type { Timing } from './queue/timing.js';

interface Alarm {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock that the test advances. */
export class FakeTiming implements Timing {
  #now = 1_000_000;
  #alarms: Alarm[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const alarm = { at: this.#now + ms, callback };
    this.#alarms.push(alarm);
    return () => {
      this.#alarms = this.#alarms.filter((one) => one !== alarm);
    };
  }

  /** How long until the next alarm; null when there is none. */
  get next(): number | null {
    return this.#alarms.length === 0 ? null : Math.min(...this.#alarms.map(({ at }) => at)) - this.#now;
  }

  /** Advances the clock and calls due alarms in order. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const due = this.#alarms.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#now = due.at;
      this.#alarms = this.#alarms.filter((one) => one !== due);
      due.callback();
      await settled();
    }
    this.#now = end;
    await settled();
  }
}

/** Resolves when everything has run that needs neither time nor input. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise(setImmediate);
}
