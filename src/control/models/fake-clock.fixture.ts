import type { Clock } from './contract.js';

/** A clock that the test advances; sleeping takes no real time. */
export class FakeClock implements Clock {
  time = Date.parse('2030-01-01T00:00:00Z');
  readonly slept: number[] = [];
  /** Called instead of waiting. */
  onSleep: (ms: number) => void = () => {};
  readonly #alarms = new Map<() => void, number>();

  /** The number of pending callbacks. */
  get alarms(): number {
    return this.#alarms.size;
  }

  now(): number {
    return this.time;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.slept.push(ms);
    this.pass(ms);
    this.onSleep(ms);
    // Others get their turn.
    await new Promise(setImmediate);
    signal?.throwIfAborted();
  }

  after(ms: number, callback: () => void): () => void {
    const alarm = () => callback();
    this.#alarms.set(alarm, this.time + ms);
    return () => this.#alarms.delete(alarm);
  }

  /** Advances the clock and calls due callbacks in order. */
  pass(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      const [due] = [...this.#alarms].filter(([, at]) => at <= end).sort(([, a], [, b]) => a - b);
      if (due === undefined) break;
      this.time = Math.max(this.time, due[1]);
      this.#alarms.delete(due[0]);
      due[0]();
    }
    // A callback may have advanced the clock as well.
    this.time = Math.max(this.time, end);
  }
}
