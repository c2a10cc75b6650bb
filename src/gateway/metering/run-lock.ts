import { closeSync, openSync, rmSync } from 'node:fs';
import type Libsql from 'libsql';

/**
 * Says that a run of the gateway is alive: a lock that the operating system gives up when the process ends, however it ends,
 * and that no later process inherits with its number. SQLite takes it, because Node has no call for it.
 */
export class RunLock {
  readonly #path: string;
  readonly #database: Libsql.Database;

  private constructor(path: string, database: Libsql.Database) {
    this.#path = path;
    this.#database = database;
  }

  /** Takes the lock; null when a process that is alive has it. */
  static async take(path: string): Promise<RunLock | null> {
    closeSync(openSync(path, 'a', 0o600));
    const { default: Database } = await import('libsql');
    const database = new Database(path, { timeout: 0 });
    try {
      database.exec('pragma journal_mode = memory; begin exclusive');
      return new RunLock(path, database);
    } catch (error) {
      database.close();
      if (String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')) return null;
      throw error;
    }
  }

  /** Removes its file before it is given up, so that nobody takes a lock that is about to go. */
  release(): void {
    rmSync(this.#path, { force: true });
    this.#database.close();
  }
}
