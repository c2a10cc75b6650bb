import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { workerLost } from '../errors.js';
import { inProcessExecutor, type RunExecutor } from './executor.js';
import type { Shard } from './shard.js';
import { thrownError, type WorkerResponse } from './worker-message.js';

const WORKER = new URL('./worker.js', import.meta.url);

/** Threads that start before the number of runs is known: almost always at least these are needed. */
const STARTED_EARLY = 4;

/** A pool of threads, or this thread where the program is not compiled. Threads load their program while others plan. */
export async function createExecutor(workers: number): Promise<RunExecutor> {
  if (!existsSync(fileURLToPath(WORKER))) return inProcessExecutor();
  const pool = new WorkerPool(workers, WORKER);
  pool.prepare(Math.min(workers, STARTED_EARLY));
  return pool;
}

interface Job {
  shard: Shard;
  done(result: string): void;
  failed(error: Error): void;
}

/** Threads that simulate, each one run at a time. The thread that owns the pool only waits for messages. */
export class WorkerPool implements RunExecutor {
  readonly width: number;
  readonly isShared = false;
  readonly #file: URL;
  readonly #idle: Worker[] = [];
  readonly #waiting: Job[] = [];
  readonly #working = new Map<Worker, Job>();
  #closed = false;

  constructor(width: number, file: URL) {
    this.width = width;
    this.#file = file;
  }

  /** Starts threads that will have something to do soon. */
  prepare(count: number): void {
    for (let i = 0; i < count; i++) this.#idle.push(this.#start());
  }

  run(shard: Shard): Promise<string> {
    return new Promise((done, failed) => {
      this.#waiting.push({ shard, done, failed });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#waiting.length = 0;
    await Promise.all([...this.#idle, ...this.#working.keys()].map((worker) => worker.terminate()));
  }

  #next(): void {
    if (this.#waiting.length === 0) return;
    const worker = this.#idle.shift() ?? (this.#working.size < this.width ? this.#start() : undefined);
    if (worker === undefined) return;
    const job = this.#waiting.shift()!;
    this.#working.set(worker, job);
    worker.postMessage(job.shard.inputs);
  }

  #start(): Worker {
    const worker = new Worker(this.#file);
    worker.on('message', (response: WorkerResponse) => {
      const job = this.#working.get(worker)!;
      this.#working.delete(worker);
      this.#idle.push(worker);
      if ('result' in response) job.done(response.result);
      else job.failed(thrownError(response.error));
      this.#next();
    });
    worker.on('error', (error: NodeJS.ErrnoException) => {
      const outOfMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.#lost(worker, outOfMemory ? 'not enough memory; try fewer workers or requests' : error.message);
    });
    worker.on('exit', (code) => this.#lost(worker, `its thread ended with code ${code}`));
    return worker;
  }

  /** A thread is gone. The run it had cannot be finished; others can, by a new thread. */
  #lost(worker: Worker, problem: string): void {
    const job = this.#working.get(worker);
    this.#working.delete(worker);
    const at = this.#idle.indexOf(worker);
    if (at >= 0) this.#idle.splice(at, 1);
    if (this.#closed) return;
    job?.failed(workerLost(problem));
    this.#next();
  }
}
