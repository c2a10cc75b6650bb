import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { FitJob, FitOutcome } from './fit-engine.js';
import { FIT_SHARE, ProcessorBudget } from './processor-budget.js';

const PROGRAM = new URL('./fit-worker.js', import.meta.url);
const MOST_HEAP_MB = 512;

export interface FitRun {
  /** Null when there were too few requests. */
  readonly outcome: FitOutcome | null;
  /** What it has cost, and how long the next one has to wait for that. */
  readonly busyMs: number;
  readonly restMs: number;
}

/** Makes a fit; rejects when it fails or the signal is aborted. */
export type MakeFit = (job: FitJob, signal: AbortSignal) => Promise<FitRun>;

/** In a thread of its own within the budget; in this thread, without pauses, where the program is not compiled. */
export const fitInThread: MakeFit = (job, signal) =>
  existsSync(fileURLToPath(PROGRAM)) ? inThread(job, signal) : fitHere(job);

function inThread(job: FitJob, signal: AbortSignal): Promise<FitRun> {
  const worker = new Worker(PROGRAM, { workerData: job, resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MB } });
  const stop = () => void worker.terminate();
  signal.addEventListener('abort', stop);
  return new Promise<FitRun>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the thread of the fit ended with code ${code}`)));
  }).finally(() => signal.removeEventListener('abort', stop));
}

/** The same in this thread. */
export async function fitHere(job: FitJob): Promise<FitRun> {
  const { fitEngine } = await import('./fit-engine.js');
  const budget = new ProcessorBudget(
    FIT_SHARE,
    () => performance.now(),
    () => {},
  );
  const outcome = fitEngine(job, budget.pace);
  const restMs = budget.settle();
  return { outcome, busyMs: budget.busyMs, restMs };
}
