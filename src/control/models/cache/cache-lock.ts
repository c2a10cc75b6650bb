import type Libsql from 'libsql';
import type { Clock } from '../contract.js';
import { unusableCache } from '../errors.js';

const ASK_AGAIN_MS = 500;

/**
 * Says that somebody works on a model: a lock that the operating system gives up when the process ends, however it ends.
 * SQLite takes it, because Node has no call for it. The file stays: a lock on one that was removed would keep out nobody.
 */
export class CacheLock {
  readonly #database: Libsql.Database;

  private constructor(database: Libsql.Database) {
    this.#database = database;
  }

  /** Takes the lock; null when somebody has it. */
  static async take(path: string): Promise<CacheLock | null> {
    const { default: Database } = await import('libsql');
    let database: Libsql.Database | undefined;
    try {
      database = new Database(path, { timeout: 0 });
      database.exec('pragma journal_mode = memory; begin exclusive');
      return new CacheLock(database);
    } catch (error) {
      database?.close();
      const code = String((error as { code?: unknown }).code);
      if (code.startsWith('SQLITE_BUSY')) return null;
      throw unusableCache(path, `cannot be locked (${code})`);
    }
  }

  /** Takes the lock as soon as it is free; `onWait` is told once that it is not. */
  static async wait(path: string, clock: Clock, signal: AbortSignal, onWait: () => void): Promise<CacheLock> {
    let lock = await CacheLock.take(path);
    if (lock === null) onWait();
    while (lock === null) {
      await clock.sleep(ASK_AGAIN_MS, signal);
      lock = await CacheLock.take(path);
    }
    return lock;
  }

  release(): void {
    this.#database.close();
  }
}
