import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sql } from 'kysely';
import type Libsql from 'libsql';
import { writeProblem } from '../../files/file-problem.js';
import { MIGRATIONS } from '../database/migrations.js';
import { storeFile } from '../database/store-address.js';
import type { Store, StoreTransaction } from '../open-store.js';
import { backupExists, unwritableBackup } from './backup-errors.js';
import { type BackupHeader, FORMAT, PASSING_SETTINGS, TABLES } from './backup-tables.js';

const ROWS_PER_PIECE = 500;

/**
 * Writes the whole content of a store, as it is at one moment, into a new file that only its owner may read: a copy of
 * the database for SQLite, lines of JSON for PostgreSQL. The file gets its name once it is complete and on disk. The
 * key file of the secrets is not part of it.
 */
export async function backUp(address: string, store: Store, path: string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    closeSync(openSync(draft, 'wx', 0o600));
    const file = storeFile(address);
    if (file !== null) await copyOf(file, draft);
    else await linesOf(store, draft);
    // Never overwrites a file: it may be the last good backup.
    linkSync(draft, path);
    syncFolder(dirname(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw backupExists(path);
    if (code !== undefined && /^E[A-Z]+$/.test(code)) throw unwritableBackup(path, writeProblem(error));
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** SQLite's own copy: consistent, and writers do not wait long. */
async function copyOf(from: string, to: string): Promise<void> {
  const { default: Database } = await import('libsql');
  const database = new Database(from, { timeout: 5000 });
  try {
    database.exec(`vacuum into '${to.replaceAll("'", "''")}'`);
  } finally {
    database.close();
  }
  forgetPresent(new Database(to));
  sync(to);
}

/** Removes what only a running process may have: the copy may be opened as a store without being restored. */
function forgetPresent(copy: Libsql.Database): void {
  const passing = `delete from settings where name in ('${PASSING_SETTINGS.join("', '")}')`;
  try {
    copy.exec(`delete from gateways; delete from requests; delete from request_decisions; ${passing}`);
    // Requests may have been most of the file.
    copy.exec('vacuum');
  } finally {
    copy.close();
  }
}

async function linesOf(store: Store, path: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await store.db.transaction().execute(async (tx) => {
      if (store.kind === 'postgres') await sql`set transaction isolation level repeatable read`.execute(tx);
      const header: BackupHeader = { format: FORMAT, version: MIGRATIONS.length };
      await file.write(`${JSON.stringify(header)}\n`);
      let rows = 0;
      for (const { key, name } of TABLES) {
        for await (const piece of tableRows(tx, name, key)) {
          rows += piece.length;
          await file.write(piece.map((row) => `${JSON.stringify([name, row])}\n`).join(''));
        }
      }
      // A backup without its last line is incomplete.
      await file.write(`${JSON.stringify({ rows })}\n`);
    });
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The rows of a table in batches, in the order of its key. */
export async function* tableRows(
  tx: StoreTransaction,
  table: string,
  key: readonly string[],
): AsyncGenerator<Record<string, unknown>[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  let last: Record<string, unknown> | undefined;
  for (;;) {
    const after =
      last === undefined ? sql`` : sql`where (${columns}) > (${sql.join(key.map((column) => last![column]))})`;
    const query = sql<
      Record<string, unknown>
    >`select * from ${sql.table(table)} ${after} order by ${columns} limit ${ROWS_PER_PIECE}`;
    const { rows } = await query.execute(tx);
    if (rows.length > 0) yield rows;
    if (rows.length < ROWS_PER_PIECE) return;
    last = rows.at(-1);
  }
}

function sync(path: string): void {
  const file = openSync(path, 'r+');
  fsyncSync(file);
  closeSync(file);
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  fsyncSync(folder);
  closeSync(folder);
}
