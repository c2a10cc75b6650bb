import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { FileLock } from '../../files/file-lock.js';
import { makeFolder } from '../../files/make-folder.js';
import type { UsageRow } from '../../store/usage/usage.js';
import { readUsageLines } from './usage-lines.js';

const RUN = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const JOURNAL = new RegExp(`^usage-(${RUN})-(\\d+)\\.journal$`);

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
 * The folder that all gateways of an installation keep their journals in: `usage-<run>-<number>.journal`, and a lock
 * per run.
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
      for (const number of numbers) {
        const id = `${run}-${number}`;
        const path = this.pathOf(id);
        rmSync(`${path}.tmp`, { force: true });
        const { damaged, totals } = readUsageLines(readFileSync(path));
        found.push({ id, run, path, damaged, rows: totals.rows(), lock: number === numbers.at(-1) ? lock : null });
      }
      if (numbers.length === 0) lock.release();
    }
    return found;
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
      const match = JOURNAL.exec(name);
      return match === null ? [] : [[match[1]!, Number(match[2])]];
    });
  }
}
