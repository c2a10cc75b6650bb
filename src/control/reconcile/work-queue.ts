import { retryDelay } from './retry-delay.js';
import type { Timing } from './timing.js';

/** Does what is to be done about a key; says when to look again although nothing has happened, null for never. */
export type Work = (key: string) => Promise<number | null>;

export interface WorkQueueOptions {
  readonly timing: Timing;
  readonly work: Work;
  /** Hears of work that failed; it is tried again after a while. */
  readonly onFailure: (key: string, error: unknown, failures: number) => void;
}

interface Entry {
  isRunning: boolean;
  /** Something has happened since the run that is under way began. */
  isStale: boolean;
  failures: number;
  forget: () => void;
}

/**
 * Keys that something has happened to. Each is worked on by one run at a time; however much happens during a run, one more
 * follows. Keys do not wait for each other.
 */
export class WorkQueue {
  readonly #entries = new Map<string, Entry>();
  readonly #options: WorkQueueOptions;
  readonly #runs = new Map<Promise<void>, string>();
  #isClosed = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /** Something has happened to it: it is worked on now, whatever it was waiting for. */
  add(key: string): void {
    if (this.#isClosed) return;
    const entry = this.#entryOf(key);
    if (entry.isRunning) entry.isStale = true;
    else this.#start(key, entry);
  }

  /** Takes no more, and resolves when what is under way has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { forget } of this.#entries.values()) forget();
    await this.ended(() => true);
  }

  /** Resolves when the runs under way of some keys have ended. */
  async ended(of: (key: string) => boolean): Promise<void> {
    await Promise.all([...this.#runs].filter(([, key]) => of(key)).map(([run]) => run));
  }

  #entryOf(key: string): Entry {
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = { isRunning: false, isStale: false, failures: 0, forget: () => {} };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  #start(key: string, entry: Entry): void {
    entry.forget();
    entry.isRunning = true;
    entry.isStale = false;
    const run = this.#run(key, entry);
    this.#runs.set(run, key);
    void run.finally(() => this.#runs.delete(run));
  }

  async #run(key: string, entry: Entry): Promise<void> {
    let waitMs: number | null;
    try {
      waitMs = await this.#options.work(key);
      entry.failures = 0;
    } catch (error) {
      if (this.#isClosed) return;
      entry.failures++;
      waitMs = retryDelay(entry.failures);
      this.#options.onFailure(key, error, entry.failures);
    }
    entry.isRunning = false;
    if (this.#isClosed) return;
    // What failed is not tried again at once, even if something has happened: that would be no back-off.
    if (entry.isStale && entry.failures === 0) this.#start(key, entry);
    else if (waitMs === null) this.#entries.delete(key);
    else entry.forget = this.#options.timing.after(waitMs, () => this.add(key));
  }
}
