import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import type Libsql from 'libsql';

const RETRY_MS = 500;

/**
 * A lock between processes, named by a file. The operating system releases it when the process ends, however it ends,
 * and no later process with the same process id inherits it. SQLite takes it, because Node.js has no call for file
 * locks.
 */
export class FileLock {
  readonly #path: string;
  readonly #database: Libsql.Database;

  private constructor(path: string, database: Libsql.Database) {
    this.#path = path;
    this.#database = database;
  }

  /** Takes the lock; null while another holder has it. */
  static async take(path: string): Promise<FileLock | null> {
    const { default: Database } = await import('libsql');
    for (;;) {
      closeSync(openSync(path, 'a', 0o600));
      const before = inodeOf(path);
      const database = new Database(path, { timeout: 0 });
      try {
        database.exec('pragma journal_mode = memory; begin exclusive');
      } catch (error) {
        database.close();
        if (String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')) return null;
        throw error;
      }
      // A file deleted by its last holder after it was opened here excludes no other process: lock the file of that
      // name now.
      if (before !== null && before === inodeOf(path)) return new FileLock(path, database);
      database.close();
    }
  }

  /** Takes the lock as soon as it is free. `onWait` is called once if it is not free at first. */
  static async wait(path: string, sleep: (ms: number) => Promise<void>, onWait: () => void): Promise<FileLock> {
    let lock = await FileLock.take(path);
    if (lock === null) onWait();
    while (lock === null) {
      await sleep(RETRY_MS);
      lock = await FileLock.take(path);
    }
    return lock;
  }

  /** Deletes the file first: a process that opened it before sees that it is gone. */
  release(): void {
    rmSync(this.#path, { force: true });
    this.#database.close();
  }
}

function inodeOf(path: string): bigint | null {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? null;
}
