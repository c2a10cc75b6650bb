import { randomUUID } from 'node:crypto';
import { InputError, RunError } from '../../kernel/errors.js';
import { callerBusy, jobsFull, workspaceBusy } from '../errors.js';

export const JOB_STATES = ['waiting', 'running', 'done', 'failed', 'cancelled'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** How far a job is; `total` is 0 where the number of steps is not known. */
export interface JobProgress {
  readonly stage: string;
  readonly done: number;
  readonly total: number;
  /** What is known so far, in words. */
  readonly detail?: string;
}

/** Whose job it is and what about. */
export interface JobFacts {
  readonly kind: string;
  readonly workspace: string;
  readonly endpoint: string;
  /** Who created it. */
  readonly actor: string;
  /** The body that asked for it. */
  readonly asked: object;
  /** Commands that do the same, to be run one after the other; empty where none does. */
  readonly commands: readonly string[];
}

export interface Job extends JobFacts {
  readonly id: string;
  readonly createdMs: number;
  startedMs: number | null;
  endedMs: number | null;
  state: JobState;
  progress: JobProgress;
  /** Of a failed job. */
  error: { readonly code: string; readonly message: string; readonly hint: string } | null;
  /** Of a job that is done. */
  result: object | null;
}

export interface JobWatch {
  /** Aborted when the job is cancelled or the server stops. */
  readonly signal: AbortSignal;
  progress(progress: JobProgress): void;
}

/** Does the job; rejects when it is cancelled. It computes in a thread of its own, or waits: it never keeps this one busy. */
export type JobWork = (watch: JobWatch) => Promise<object>;

export interface JobLimits {
  /** Jobs that compute at once. */
  readonly running: number;
  /** That wait for their turn: all of them, those of one workspace, and those of one caller. */
  readonly waiting: number;
  readonly waitingOfWorkspace: number;
  readonly waitingOfOne: number;
  /** That are kept after their end: all of them, and those of one workspace. */
  readonly kept: number;
  readonly keptOfOne: number;
}

const LIMITS: JobLimits = {
  ...{ running: 1, waiting: 32, waitingOfWorkspace: 12, waitingOfOne: 8 },
  ...{ kept: 100, keptOfOne: 50 },
};
/** Workspaces whose last turn is remembered. */
const MOST_TURNS = 10_000;
const START: JobProgress = { stage: 'waiting', done: 0, total: 0 };

interface Entry {
  readonly job: Job;
  readonly work: JobWork;
  readonly abort: AbortController;
  readonly isIdle: boolean;
  /** Called at the next change. */
  waiters: (() => void)[];
}

/** Long work of an API server: started, followed, cancelled and, for a while, looked up. Nothing of it outlives the process. */
export class JobBoard {
  readonly #nowMs: () => number;
  readonly #limits: JobLimits;
  /** In order of creation. */
  readonly #entries = new Map<string, Entry>();
  #isClosed = false;
  /** By workspace: when it had its last turn. */
  readonly #turns = new Map<string, number>();
  #turn = 0;

  /** @param nowMs Unix time */
  constructor(nowMs: () => number = Date.now, limits: JobLimits = LIMITS) {
    this.#nowMs = nowMs;
    this.#limits = limits;
  }

  /**
   * Throws when as many wait as may, of all callers or of this one.
   * @param isIdle it only waits, and needs no turn among those that compute
   */
  create(facts: JobFacts, work: JobWork, isIdle = false): Job {
    if (this.#isClosed) throw jobsFull(this.#limits.waiting);
    if (!isIdle) this.#checkRoom(facts);
    const job: Job = {
      ...{ id: randomUUID(), ...facts, createdMs: this.#nowMs(), startedMs: null, endedMs: null },
      ...{ state: 'waiting', progress: START, error: null, result: null },
    };
    const entry: Entry = { job, work, abort: new AbortController(), isIdle, waiters: [] };
    this.#entries.set(job.id, entry);
    if (isIdle) void this.#run(entry);
    else this.#next();
    return job;
  }

  /** The latest first. */
  list(): Job[] {
    return [...this.#entries.values()].map(({ job }) => job).reverse();
  }

  get(id: string): Job | undefined {
    return this.#entries.get(id)?.job;
  }

  /** Ends a job that has not ended; resolves when it has undone what it must not leave behind. */
  async cancel(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    if (entry.job.state === 'waiting') this.#end(entry, 'cancelled');
    entry.abort.abort();
    while (isOpen(entry.job)) await new Promise<void>((changed) => entry.waiters.push(changed));
  }

  /** Cancels and forgets the jobs of a workspace that has been removed. @param untilMs later ones are of another one of that name */
  async forget(workspace: string, untilMs: number): Promise<void> {
    for (const { job } of [...this.#entries.values()]) {
      if (job.workspace !== workspace || job.createdMs > untilMs) continue;
      await this.cancel(job.id);
      this.#entries.delete(job.id);
    }
  }

  /** The job now and after each change, until it has ended. A slow reader sees only the latest. */
  async *follow(id: string, signal: AbortSignal): AsyncGenerator<Job> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    let wake = () => {};
    const leave = () => wake();
    signal.addEventListener('abort', leave, { once: true });
    try {
      while (!signal.aborted) {
        const changed = new Promise<void>((resolve) => {
          wake = resolve;
          entry.waiters.push(resolve);
        });
        yield { ...entry.job };
        if (!isOpen(entry.job) || signal.aborted) return;
        await changed;
      }
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  /** Cancels all jobs and takes no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#entries.keys()].map((id) => this.cancel(id)));
  }

  #checkRoom({ actor, workspace }: JobFacts): void {
    const { waiting, waitingOfOne, waitingOfWorkspace } = this.#limits;
    if (this.#count('waiting') >= waiting) throw jobsFull(waiting);
    if (this.#count('waiting', (job) => job.workspace === workspace) >= waitingOfWorkspace) {
      throw workspaceBusy(workspace, waitingOfWorkspace);
    }
    if (this.#count('waiting', (job) => job.actor === actor) >= waitingOfOne) throw callerBusy(actor, waitingOfOne);
  }

  /** The oldest of the workspace whose last turn is longest ago: many jobs of one do not hold up the others. */
  #next(): void {
    while (this.#count('running') < this.#limits.running) {
      let first: Entry | null = null;
      for (const entry of this.#entries.values()) {
        if (entry.job.state !== 'waiting') continue;
        if (first === null || this.#turnOf(entry) < this.#turnOf(first)) first = entry;
      }
      if (first === null) return;
      this.#turns.delete(first.job.workspace);
      this.#turns.set(first.job.workspace, ++this.#turn);
      if (this.#turns.size > MOST_TURNS) this.#turns.delete(this.#turns.keys().next().value!);
      void this.#run(first);
    }
  }

  #turnOf({ job }: Entry): number {
    return this.#turns.get(job.workspace) ?? 0;
  }

  async #run(entry: Entry): Promise<void> {
    const { abort, job, work } = entry;
    job.state = 'running';
    job.startedMs = this.#nowMs();
    this.#tell(entry);
    try {
      const watch: JobWatch = {
        signal: abort.signal,
        progress: (progress) => {
          if (!isOpen(job)) return;
          job.progress = progress;
          this.#tell(entry);
        },
      };
      job.result = await work(watch);
      this.#end(entry, 'done');
    } catch (error) {
      if (!abort.signal.aborted) job.error = shownError(error);
      this.#end(entry, abort.signal.aborted ? 'cancelled' : 'failed');
    }
    if (!this.#isClosed) this.#next();
  }

  #end(entry: Entry, state: JobState): void {
    entry.job.state = state;
    entry.job.endedMs = this.#nowMs();
    this.#tell(entry);
    this.#forget(entry.job.workspace);
  }

  /** Drops the oldest ended jobs of a workspace that has too many. With too many in all, the workspace that has most loses one. */
  #forget(workspace: string): void {
    const ended = new Map<string, string[]>();
    for (const { job } of this.#entries.values()) {
      if (!isOpen(job)) ended.set(job.workspace, [...(ended.get(job.workspace) ?? []), job.id]);
    }
    const lists = [...ended.values()];
    const own = ended.get(workspace) ?? [];
    while (own.length > this.#limits.keptOfOne) this.#entries.delete(own.shift()!);
    while (lists.reduce((sum, list) => sum + list.length, 0) > this.#limits.kept) {
      const most = lists.reduce((a, b) => (b.length > a.length ? b : a));
      this.#entries.delete(most.shift()!);
    }
  }

  #tell(entry: Entry): void {
    for (const changed of entry.waiters.splice(0)) changed();
  }

  /** Of those that compute. */
  #count(state: JobState, isCounted: (job: Job) => boolean = () => true): number {
    let count = 0;
    for (const { isIdle, job } of this.#entries.values()) if (job.state === state && !isIdle && isCounted(job)) count++;
    return count;
  }
}

function isOpen({ state }: Job): boolean {
  return state === 'waiting' || state === 'running';
}

function shownError(error: unknown): NonNullable<Job['error']> {
  if (error instanceof InputError)
    return { code: error.code, message: `${error.place}: ${error.problem}`, hint: error.hint };
  if (error instanceof RunError) return { code: error.code, message: error.message, hint: '' };
  return { code: 'JOB_FAILED', message: (error as Error).message, hint: '' };
}
