import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import type { ShadowClock } from './endpoint-shadows.js';

/** From this share of busy time on, requests begin to wait for the processor. */
const BUSY = 0.9;
const EVERY_MS = 250;

/** Whether the event loop of this process is nearly always busy, by its last quarter of a second. */
class LoopLoad {
  #from: EventLoopUtilization = performance.eventLoopUtilization();
  #atMs = performance.now();
  #isBusy = false;

  readonly isBusy = (): boolean => {
    const nowMs = performance.now();
    if (nowMs - this.#atMs < EVERY_MS) return this.#isBusy;
    const now = performance.eventLoopUtilization();
    this.#isBusy = performance.eventLoopUtilization(now, this.#from).utilization > BUSY;
    this.#from = now;
    this.#atMs = nowMs;
    return this.#isBusy;
  };
}

/** Real time: shadows decide when the event loop has dealt with what has arrived. */
export function realClock(): ShadowClock {
  const load = new LoopLoad();
  return {
    soon: (run) => void setImmediate(run),
    spentUs: () => performance.now() * 1000,
    isBusy: load.isBusy,
  };
}
