import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { FileLock } from '../../files/file-lock.js';
import { makeFolder } from '../../files/make-folder.js';
import type { UsageRow } from '../../store/usage/usage.js';
import { readUsageLines } from './usage-lines.js';

const RUN = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const JOURNAL = new RegExp(`^usage-(${RUN})-(\\d+)\\.journal$`);
/** The number of the running sums of a run among its journals. */
const LIVE = -1;
const LIVE_FILE = new RegExp(`^usage-(${RUN})\\.live$`);

/** A journal of an ended run, or an ended segment: to be added to the store. */
export interface EndedJournal {
  readonly id: string;
  readonly run: string;
  readonly path: string;
  readonly rows: readonly UsageRow[];
  /** Lines that could not be read. */
  readonly damaged: number;
  /** Held while the journals of a dead run are folded; on the last one of that run. */
  readonly lock: FileLock | null;
}

/**
 * The folder that all gateways of an installation keep their journals in: `usage-<run>-<number>.journal`, the running
 * sums of streams in `usage-<run>.live`, and a lock per run.
 */
export class JournalFolder {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  make(): void {
    makeFolder(this.#path);
  }

  pathOf(id: string): string {
    return join(this.#path, `usage-${id}.journal`);
  }

  livePathOf(run: string): string {
    return join(this.#path, `usage-${run}.live`);
  }

  lock(run: string): Promise<FileLock | null> {
    return FileLock.take(join(this.#path, `usage-${run}.lock`));
  }

  /**
   * The journals that dead runs have left, in the order in which each was written. Those of runs alive are not touched.
   */
  async left(): Promise<EndedJournal[]> {
    const found: EndedJournal[] = [];
    for (const run of new Set(this.#list().map(([one]) => one))) {
      const lock = await this.lock(run);
      if (lock === null) continue;
      // Another gateway may have folded it meanwhile.
      const numbers = this.#list().flatMap(([one, number]) => (one === run ? [number] : []));
      numbers.sort((a, b) => a - b);
      found.push(...this.#read(run, numbers, lock));
      if (numbers.length === 0) lock.release();
    }
    return found;
  }

  /**
   * Running sums come first: a journal that is folded and deleted cannot show any more which of the streams have ended.
   */
  #read(run: string, numbers: readonly number[], lock: FileLock): EndedJournal[] {
    const ended = new Set<number>();
    rmSync(`${this.livePathOf(run)}.tmp`, { force: true });
    const journals = [...numbers].reverse().map((number): EndedJournal => {
      const isLive = number === LIVE;
      const id = `${run}-${isLive ? 'live' : number}`;
      const path = isLive ? this.livePathOf(run) : this.pathOf(id);
      rmSync(`${path}.tmp`, { force: true });
      const { damaged, liveIds, totals } = readUsageLines(readFileSync(path), isLive ? ended : undefined);
      for (const liveId of liveIds) ended.add(liveId);
      const rows = totals.rows().filter(({ requests }) => requests > 0);
      return { id, run, path, damaged, rows, lock: number === numbers.at(-1) ? lock : null };
    });
    return journals.reverse();
  }

  /** Resolves to whether deletions in the folder are durable, even after a power cut. */
  async sync(): Promise<boolean> {
    try {
      const folder = await open(this.#path, 'r');
      await folder.sync().finally(() => folder.close());
      return true;
    } catch {
      return false;
    }
  }

  #list(): [run: string, number: number][] {
    return readdirSync(this.#path).flatMap((name) => {
      const live = LIVE_FILE.exec(name);
      if (live !== null) return [[live[1]!, LIVE]];
      const match = JOURNAL.exec(name);
      return match === null ? [] : [[match[1]!, Number(match[2])]];
    });
  }
}
