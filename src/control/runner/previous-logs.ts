import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../files/make-folder.js';
import { replacePrivateFile } from '../../files/replace-file.js';
import type { ReplicaHandle } from './contract.js';
import { unkeptLog } from './errors.js';

/** Of one log, in characters. */
const MOST = 1024 * 1024;

/** Whose log it is. */
export type LogOwner = Pick<ReplicaHandle, 'workspace' | 'endpoint'>;

export interface PreviousLog {
  readonly replica: string;
  /** When the replica ended, in milliseconds since 1970. */
  readonly at: number;
  readonly lines: readonly string[];
}

/** For each endpoint, the end of the log of the replica that ended last and has been removed. */
export class PreviousLogs {
  readonly #folder: string;
  readonly #scrub: (line: string) => string;
  readonly #onFault: (error: Error) => void;

  constructor(folder: string, scrub: (line: string) => string, onFault: (error: Error) => void) {
    this.#folder = folder;
    this.#scrub = scrub;
    this.#onFault = onFault;
  }

  /** Keeps the log of a replica in place of an older one. Never throws: a replica can be removed without. */
  async keep(replica: ReplicaHandle, lines: AsyncIterable<string>): Promise<void> {
    try {
      const at = replica.exit?.at ?? 0;
      const kept = await lastOf(lines);
      if ((this.find(replica)?.at ?? 0) > at) return;
      const path = this.#pathOf(replica);
      makeFolder(dirname(path));
      replacePrivateFile(path, `${[JSON.stringify({ replica: replica.id, at }), ...kept].join('\n')}\n`);
    } catch (error) {
      this.#onFault(unkeptLog(replica.id, error));
    }
  }

  /** Null when there is none, or none that can be read. */
  find(owner: LogOwner): PreviousLog | null {
    try {
      const [head, ...lines] = readFileSync(this.#pathOf(owner), 'utf8').split('\n').slice(0, -1);
      const { at, replica } = JSON.parse(head!) as PreviousLog;
      // Secrets may have become known since it was kept.
      return { replica, at, lines: lines.map(this.#scrub) };
    } catch {
      return null;
    }
  }

  async forget(owner: LogOwner): Promise<void> {
    await rm(this.#pathOf(owner), { force: true });
  }

  #pathOf({ endpoint, workspace }: LogOwner): string {
    return join(this.#folder, workspace, `${endpoint}.log`);
  }
}

/** The last lines, as many as may be kept. */
async function lastOf(lines: AsyncIterable<string>): Promise<string[]> {
  const kept: string[] = [];
  let size = 0;
  let first = 0;
  for await (const line of lines) {
    kept.push(line);
    size += line.length + 1;
    while (size > MOST) size -= kept[first++]!.length + 1;
    if (first >= 1000) {
      kept.splice(0, first);
      first = 0;
    }
  }
  return kept.slice(first);
}
