import { retryDelay } from './retry-delay.js';
import type { Timing } from './timing.js';

/** Processes a key; returns the milliseconds until it is processed again if it is not added before, null for never. */
export type Work = (key: string) => Promise<number | null>;

export interface WorkQueueOptions {
  readonly timing: Timing;
  readonly work: Work;
  /** Called when work has failed; it is retried after a back-off. */
  readonly onFailure: (key: string, error: unknown, failures: number) => void;
}

interface Entry {
  isRunning: boolean;
  /** Added again since the current run began. */
  isStale: boolean;
  failures: number;
  cancel: () => void;
}

/** Runs at the same time: enough that none waits for slow ones, and few enough that others get their turn at the store. */
const MOST_RUNS = 64;

/**
 * A queue of keys. Each key has one run at a time; however often it is added during a run, one more follows. Keys do not wait for
 * each other, unless there are thousands.
 */
export class WorkQueue {
  readonly #entries = new Map<string, Entry>();
  readonly #options: WorkQueueOptions;
  /** By key, until the end of the run; those that wait for their turn included. */
  readonly #runs = new Map<Promise<void>, string>();
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  #isClosed = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /** Processes a key now, even if it waits for a retry or a timer. */
  add(key: string): void {
    if (this.#isClosed) return;
    const entry = this.#entryOf(key);
    if (entry.isRunning) entry.isStale = true;
    else this.#start(key, entry);
  }

  /** Accepts no more keys; resolves when current runs have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { cancel } of this.#entries.values()) cancel();
    await this.ended(() => true);
  }

  /** Resolves when the current runs of some keys have ended. */
  async ended(of: (key: string) => boolean): Promise<void> {
    await Promise.all([...this.#runs].filter(([, key]) => of(key)).map(([run]) => run));
  }

  #entryOf(key: string): Entry {
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = { isRunning: false, isStale: false, failures: 0, cancel: () => {} };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  #start(key: string, entry: Entry): void {
    entry.cancel();
    entry.isRunning = true;
    entry.isStale = false;
    const run = this.#run(key, entry);
    this.#runs.set(run, key);
    void run.finally(() => this.#runs.delete(run));
  }

  async #run(key: string, entry: Entry): Promise<void> {
    if (this.#running >= MOST_RUNS) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    // What was added while it waited is part of this run.
    entry.isStale = false;
    let waitMs: number | null;
    try {
      waitMs = this.#isClosed ? null : await this.#options.work(key);
      entry.failures = 0;
    } catch (error) {
      if (this.#isClosed) return;
      entry.failures++;
      waitMs = retryDelay(entry.failures);
      this.#options.onFailure(key, error, entry.failures);
    } finally {
      // The next one takes over the place.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
    entry.isRunning = false;
    if (this.#isClosed) return;
    // A failed key waits for its back-off even if it was added again meanwhile.
    if (entry.isStale && entry.failures === 0) this.#start(key, entry);
    else if (waitMs === null) this.#entries.delete(key);
    else entry.cancel = this.#options.timing.after(waitMs, () => this.add(key));
  }
}
