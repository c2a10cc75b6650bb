import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { mapStackTraces } from '../../../files/map-stack-traces.js';
import { type FitJob, fitEngine } from './fit-engine.js';
import type { FitRun } from './fit-thread.js';
import { FIT_SHARE, ProcessorBudget } from './processor-budget.js';

/** A thread that makes one fit, slowly: it sleeps most of the time. */

mapStackTraces();

const silence = new Int32Array(new SharedArrayBuffer(4));
// Both clocks begin with the thread: loading its program counts.
const budget = new ProcessorBudget(FIT_SHARE, threadTimeMs, (ms) => void Atomics.wait(silence, 0, 0, ms), 0);
const outcome = fitEngine(workerData as FitJob, budget.pace);
const restMs = budget.settle();
parentPort!.postMessage({ outcome, busyMs: budget.busyMs, restMs } satisfies FitRun);

/** Processor time of this thread; where the system does not say, all time. */
function threadTimeMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return performance.now();
  }
}
