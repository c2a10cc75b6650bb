import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import type { ShadowClock } from './shadow-clock.js';

/** From this share of busy time on, requests begin to wait for the processor. */
const BUSY = 0.9;
const EVERY_MS = 250;
/** Decisions made together find code and data in the processor's caches: with little traffic they wait for others. */
const LATER_MS = 100;

/** Whether the event loop of this process is nearly always busy, by its last quarter of a second. */
class LoopLoad {
  #from: EventLoopUtilization = performance.eventLoopUtilization();
  #isBusy = false;

  readonly isBusy = (): boolean => {
    const now = performance.eventLoopUtilization();
    const passedMs = now.active + now.idle - this.#from.active - this.#from.idle;
    if (passedMs < EVERY_MS) return this.#isBusy;
    this.#isBusy = (now.active - this.#from.active) / passedMs > BUSY;
    this.#from = now;
    return this.#isBusy;
  };
}

/** Real time. What is used is processor time, not wall time: a machine that is busy with other processes takes nothing from shadows. */
export function realClock(): ShadowClock {
  const load = new LoopLoad();
  return {
    later: (run) => void setTimeout(run, LATER_MS).unref(),
    soon: (run) => void setImmediate(run),
    usedUs: () => {
      const { system, user } = process.cpuUsage();
      return system + user;
    },
    isBusy: load.isBusy,
  };
}
