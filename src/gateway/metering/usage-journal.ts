import { randomUUID } from 'node:crypto';
import { renameSync, unlinkSync } from 'node:fs';
import type { FileLock } from '../../files/file-lock.js';
import { writeProblem } from '../../files/file-problem.js';
import type { UsageRow } from '../../store/usage/usage.js';
import { unfoldedUsage, unreadUsage, unremovedUsage, unwritableJournal, unwrittenUsage } from './errors.js';
import { type EndedJournal, JournalFolder } from './journal-folder.js';
import { type LiveRequests, LiveUsage } from './live-usage.js';
import { UsageSegment } from './usage-segment.js';
import type { CountedRequest } from './usage-totals.js';

/** The permanent place of usage: `store.usage`. A journal that is offered twice is added once. */
export interface UsageSink {
  /** @param gone deleted journals, which cannot be offered again */
  fold(journalId: string, rows: readonly UsageRow[], gone: readonly string[]): Promise<unknown>;
}

export interface JournalOptions {
  /** Microseconds from 1970 to the zero of the gateway's clock. */
  readonly epochUs: number;
  /** Called with errors; for each kind once, until it is over. */
  readonly onFault: (error: Error) => void;
  /** The streams under way; without it there are none. */
  readonly live?: LiveRequests;
  /** The gateway's clock; needed with `live`. */
  readonly nowUs?: () => number;
  /** Bytes of single requests that are kept while the store is unavailable; beyond that only sums are kept. */
  readonly mostBytes?: number;
}

const DAY_MS = 86_400_000;
/** The most bytes that are held before they are written. */
const MOST_PENDING = 64 * 1024;
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * Keeps usage between the end of a request and the store. A request is added, committed with all others of its turn
 * in one write, and only then acknowledged to its client; `fold`, called every few seconds, moves what has gathered to
 * the store. So nothing acknowledged is lost when the process is killed, and nothing is counted twice: the store knows
 * a journal by its id, and a journal that has been offered to the store is not changed any more. `writeLive`, called
 * every second, keeps the sums of streams under way beside it for the next run.
 */
export class UsageJournal {
  /** Commits that are not in the journal, and journals that the store did not take when they were offered. */
  failedWrites = 0;
  failedFolds = 0;
  readonly #sink: UsageSink;
  readonly #folder: JournalFolder;
  readonly #lock: FileLock;
  /** Names this run among those that share the folder. */
  readonly run: string;
  /** Runs of the folder that have crashed. */
  readonly deadRuns: readonly string[];
  readonly #options: JournalOptions;
  readonly #day: UtcDay;
  readonly #live: LiveUsage;
  #segment: UsageSegment;
  #segments = 0;
  /** Journals that are not in the store yet, the oldest first: at most one of this run. */
  readonly #ended: EndedJournal[];
  #gone: string[] = [];
  #folding: Promise<void> | null = null;
  /** Reported once, until it is over. */
  #isStoreAway = false;
  #isUnwritable = false;

  private constructor(
    sink: UsageSink,
    folder: JournalFolder,
    { lock, run, left }: { lock: FileLock; run: string; left: EndedJournal[] },
    options: JournalOptions,
  ) {
    this.#sink = sink;
    this.#folder = folder;
    this.#lock = lock;
    this.run = run;
    this.deadRuns = [...new Set(left.map((one) => one.run))];
    this.#ended = left;
    this.#options = options;
    this.#day = new UtcDay(options.epochUs);
    this.#live = new LiveUsage(folder.livePathOf(run));
    this.#segment = this.#nextSegment();
    this.#segment.open();
  }

  /**
   * Creates a journal, and moves journals of dead runs to the store. Throws an InputError when it cannot be written.
   */
  static async open(path: string, sink: UsageSink, options: JournalOptions): Promise<UsageJournal> {
    const folder = new JournalFolder(path);
    const run = randomUUID();
    let journal: UsageJournal;
    try {
      folder.make();
      const lock = (await folder.lock(run))!;
      journal = new UsageJournal(sink, folder, { lock, run, left: await folder.left() }, options);
    } catch (error) {
      throw unwritableJournal((error as NodeJS.ErrnoException).path ?? path, writeProblem(error));
    }
    await journal.fold();
    return journal;
  }

  /** Journals that wait for the store. */
  get waiting(): number {
    return this.#ended.length;
  }

  /** Adds a request that has ended, or whose final usage is known. It is in the journal after the next `commit`. */
  add(request: CountedRequest, costNanos: number): void {
    this.#segment.add(request, this.#day.of(request.endedUs), costNanos);
    if (this.#segment.pending >= MOST_PENDING) this.commit();
  }

  /** Writes what was added since. A failure is reported and does not fail requests. */
  commit(): void {
    if (this.#segment.pending === 0) return;
    try {
      this.#segment.commit();
      if (this.#segment.isWritten) this.#isUnwritable = false;
      else this.failedWrites++;
    } catch (error) {
      this.#unwritten(error);
    }
  }

  /**
   * Writes the sums of the streams under way in place of those before. Returns whether those before are gone; a failure
   * is reported and fails no request.
   */
  writeLive(): boolean {
    const { live, nowUs } = this.#options;
    if (live === undefined) return true;
    // The usage of a request that has just ended must be in one of the two files.
    this.commit();
    try {
      this.#live.write(live, this.#day.of(nowUs!()));
      return true;
    } catch (error) {
      this.#unwritten(error);
    }
    try {
      this.#live.remove();
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Moves pending usage to the store. Never fails: what the store does not accept now is offered again the next time.
   */
  fold(): Promise<void> {
    this.#folding ??= this.#foldAll().finally(() => {
      this.#folding = null;
    });
    return this.#folding;
  }

  /** Moves everything to the store; if the store is unavailable, leaves it to the next run. */
  async close(): Promise<void> {
    await this.fold();
    await this.fold();
    this.commit();
    this.writeLive();
    this.#segment.close();
    if (this.#segment.totals.size === 0) this.#remove(this.#segment.path);
    for (const { lock } of this.#ended) lock?.release();
    this.#lock.release();
  }

  async #foldAll(): Promise<void> {
    this.commit();
    // A segment that is folded or rewritten does not show any more which streams have ended.
    if (!this.writeLive()) return;
    if (this.#ended.length === 0 && this.#segment.totals.size > 0) this.#endSegment();
    else this.#tidy();
    while (this.#ended.length > 0) {
      const journal = this.#ended[0]!;
      if (!(await this.#offer(journal))) return;
      this.#ended.shift();
      // The store may forget a deleted journal.
      if (this.#putAway(journal) && (await this.#folder.sync())) this.#gone.push(journal.id);
      journal.lock?.release();
    }
  }

  async #offer({ id, rows }: EndedJournal): Promise<boolean> {
    if (rows.length === 0) return true;
    try {
      await this.#sink.fold(id, rows, this.#gone);
      this.#gone = [];
      this.#isStoreAway = false;
      return true;
    } catch (error) {
      this.failedFolds++;
      if (!this.#isStoreAway) this.#options.onFault(unfoldedUsage(error));
      this.#isStoreAway = true;
      return false;
    }
  }

  /** Deletes a journal that is in the store; returns whether it is gone. */
  #putAway({ damaged, path }: EndedJournal): boolean {
    if (damaged === 0) return this.#remove(path);
    this.#options.onFault(unreadUsage(path, damaged));
    try {
      renameSync(path, `${path}.damaged`);
      return true;
    } catch {
      return false;
    }
  }

  #remove(path: string): boolean {
    try {
      unlinkSync(path);
      return true;
    } catch (error) {
      // A file that could not be created does not exist either.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
      this.#options.onFault(unremovedUsage(path, error));
      return false;
    }
  }

  #nextSegment(): UsageSegment {
    const id = `${this.run}-${this.#segments++}`;
    return new UsageSegment(this.#folder.pathOf(id), id);
  }

  #endSegment(): void {
    const { id, path, totals } = this.#segment;
    this.#segment.close();
    this.#ended.push({ id, run: this.run, path, rows: totals.rows(), damaged: 0, lock: null });
    this.#segment = this.#nextSegment();
    try {
      this.#segment.open();
    } catch (error) {
      this.#unwritten(error);
    }
  }

  /** Bounds pending usage while the store is unavailable, and retries a failed write. */
  #tidy(): void {
    try {
      this.#segment.tidy(this.#options.mostBytes ?? MOST_BYTES);
    } catch (error) {
      this.#unwritten(error);
    }
  }

  #unwritten(error: unknown): void {
    this.failedWrites++;
    if (!this.#isUnwritable) this.#options.onFault(unwrittenUsage(this.#segment.path, error));
    this.#isUnwritable = true;
  }
}

/** UTC days of a clock: the same day again costs two comparisons. */
export class UtcDay {
  readonly #epochMs: number;
  #from = 0;
  #text = '';

  /** @param epochUs microseconds from 1970 to the clock's zero */
  constructor(epochUs: number) {
    this.#epochMs = epochUs / 1000;
  }

  /** The day of a time on the clock, written YYYY-MM-DD. */
  of(us: number): string {
    const ms = this.#epochMs + us / 1000;
    if (ms < this.#from || ms >= this.#from + DAY_MS || this.#text === '') {
      this.#from = Math.floor(ms / DAY_MS) * DAY_MS;
      this.#text = new Date(this.#from).toISOString().slice(0, 10);
    }
    return this.#text;
  }
}
