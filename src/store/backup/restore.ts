import { closeSync, copyFileSync, createReadStream, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { sql } from 'kysely';
import { readProblem } from '../../files/file-problem.js';
import { InputError } from '../../kernel/errors.js';
import { MIGRATIONS } from '../database/migrations.js';
import { openStore, type Store, type StoreTransaction } from '../open-store.js';
import { tableRows } from './backup.js';
import { badBackup, newerBackup, notEmpty } from './backup-errors.js';
import { type BackupHeader, FORMAT, FORMER_FORMAT, PASSING_SETTINGS, TABLES } from './backup-tables.js';

type Row = Record<string, unknown>;
type Rows = AsyncIterable<readonly [table: string, rows: Row[]]>;

const SQLITE_FILE = 'SQLite format 3\0';
const ROWS_PER_STATEMENT = 100;

/**
 * Fills an empty store from a backup of either database, completely or not at all. A SQLite backup of an older version
 * is migrated on the way; lines of JSON must be of this version.
 */
export async function restore(store: Store, path: string): Promise<void> {
  if (startOf(path) === SQLITE_FILE) {
    // Opening may migrate the file: the backup itself must not change.
    const folder = mkdtempSync(join(tmpdir(), 'twinyard-restore-'));
    try {
      const copy = join(folder, 'store.db');
      copyFileSync(path, copy);
      const source = await openStore(copy, { create: false }).catch((error: unknown) => {
        throw damaged(path, copy, error);
      });
      try {
        await source.db.transaction().execute((tx) => fill(store, tablesOf(tx, path, copy)));
      } finally {
        await source.close();
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  } else await fill(store, linesOf(path));
}

async function fill(store: Store, rows: Rows): Promise<void> {
  await store.exclusively(async (tx) => {
    for (const { name } of TABLES) {
      const found = await sql`select 1 from ${sql.table(name)} limit 1`.execute(tx);
      if (found.rows.length > 0) throw notEmpty(store.address, name);
    }
    for await (const [table, some] of rows) await insert(tx, table, table === 'settings' ? lasting(some) : some);
  });
}

const lasting = (settings: readonly Row[]) => settings.filter(({ name }) => !PASSING_SETTINGS.includes(name as string));

async function insert(tx: StoreTransaction, table: string, rows: readonly Row[]): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
    await tx
      .insertInto(table as 'settings')
      .values(rows.slice(from, from + ROWS_PER_STATEMENT) as unknown as { name: string; value: string }[])
      .execute();
  }
}

async function* tablesOf(tx: StoreTransaction, path: string, copy: string): Rows {
  for (const { key, name } of TABLES) {
    const rows = tableRows(tx, name, key)[Symbol.asyncIterator]();
    for (;;) {
      const next = await rows.next().catch((error: unknown) => {
        throw damaged(path, copy, error);
      });
      if (next.done) break;
      yield [name, next.value];
    }
  }
}

/** The backup is named by its own path, not by that of the copy that is read. */
function damaged(path: string, copy: string, error: unknown): Error {
  const { message } = error as Error;
  if (error instanceof InputError && error.code === 'STORE_NEWER')
    return new InputError('BACKUP_NEWER', path, error.problem, error.hint);
  return badBackup(path, `is damaged or incomplete (${message.replaceAll(copy, path).replace(/^store \S+: /, '')})`);
}

async function* linesOf(path: string): Rows {
  let number = 0;
  let rows = 0;
  let isComplete = false;
  let table = '';
  let some: Row[] = [];
  for await (const line of createInterface(createReadStream(path))) {
    number++;
    const value = parsed(line);
    if (number === 1) checkHeader(value as BackupHeader | null, path);
    else if (isComplete) throw badBackup(`${path}:${number}`, 'continues after its end');
    else if (isRow(value)) {
      rows++;
      // Many rows per statement: one by one, a restore would hold the store for much longer.
      if (value[0] !== table || some.length === ROWS_PER_STATEMENT) {
        if (some.length > 0) yield [table, some];
        [table, some] = [value[0], []];
      }
      some.push(value[1]);
    } else if ((value as { rows?: unknown } | null)?.rows === rows) isComplete = true;
    else throw badBackup(`${path}:${number}`, 'is not a row of a backup');
  }
  if (!isComplete) throw badBackup(path, 'is incomplete');
  if (some.length > 0) yield [table, some];
}

function isRow(value: unknown): value is [string, Row] {
  return Array.isArray(value) && TABLES.some(({ name }) => name === value[0]) && typeof value[1] === 'object';
}

function checkHeader(header: BackupHeader | null, path: string): void {
  if ((header?.format as string | undefined) === FORMER_FORMAT) {
    throw badBackup(path, 'was written by twinyard 0.1, whose backups this version cannot read');
  }
  if (header?.format !== FORMAT) throw badBackup(path, 'is not a backup');
  if (header.version > MIGRATIONS.length) throw newerBackup(path, header.version, MIGRATIONS.length);
  if (header.version < MIGRATIONS.length) {
    throw badBackup(path, `was written by an older version (${header.version} of ${MIGRATIONS.length})`);
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function startOf(path: string): string {
  try {
    const file = openSync(path, 'r');
    const bytes = Buffer.alloc(SQLITE_FILE.length);
    readSync(file, bytes, 0, bytes.length, 0);
    closeSync(file);
    return bytes.toString('latin1');
  } catch (error) {
    throw badBackup(path, `cannot be read (${readProblem(error)})`);
  }
}
