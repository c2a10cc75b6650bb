import type { Clock } from './contract.js';

/** A clock that stands still but for sleeping, which takes no time. */
export class ToyClock implements Clock {
  time = Date.parse('2030-01-01T00:00:00Z');
  readonly slept: number[] = [];
  /** Called instead of waiting. */
  onSleep: (ms: number) => void = () => {};

  now(): number {
    return this.time;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.slept.push(ms);
    this.time += ms;
    this.onSleep(ms);
    // Others get their turn.
    await new Promise(setImmediate);
    signal?.throwIfAborted();
  }
}
