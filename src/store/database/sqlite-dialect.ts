import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { CompiledQuery, type Dialect, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely';
import type Libsql from 'libsql';
import { isDenied, isDiskFull, writeProblem } from '../../files/file-problem.js';
import { makeFolder } from '../../files/make-folder.js';
import { Turns } from '../../kernel/turns.js';
import type { OpenStoreOptions } from './database.js';
import {
  fullStore,
  lockedStore,
  missingStore,
  notADatabase,
  notAFolder,
  storeFailed,
  storePermission,
  unreachableStore,
} from './errors.js';
import type { StoreAddress } from './store-address.js';
import { storeDialect } from './store-driver.js';

/**
 * WAL: readers never wait. FULL: an acknowledged commit is on disk, because a journal is deleted once it is folded, and
 * a revoked key must not come back after a power cut. A commit costs one write to disk.
 */
const PRAGMAS = ['journal_mode = wal', 'synchronous = full'];

/** SQLite's own waiting blocks the whole thread, so only the shortest waits are left to it. */
const BUSY_TIMEOUT_MS = 5;

/** Of all connections: each statement blocks this thread. */
const TURNS = new Turns();

/** SQLite through libsql. The file and the folders created for it are readable by their owner only. */
export async function sqliteDialect(
  { path, shown }: StoreAddress & { kind: 'sqlite' },
  { create, lockWaitMs }: Required<Pick<OpenStoreOptions, 'create' | 'lockWaitMs'>>,
): Promise<Dialect> {
  const { default: Database } = await import('libsql');
  const dialect = new SqliteDialect({
    database: async () => {
      if (path !== ':memory:') touch(path, shown, create);
      return new StoreDatabase(new Database(path, { timeout: BUSY_TIMEOUT_MS }));
    },
    async onCreateConnection(connection) {
      for (const pragma of PRAGMAS) await connection.executeQuery(CompiledQuery.raw(`pragma ${pragma}`));
    },
  });
  return storeDialect(dialect, {
    begin: 'begin immediate',
    lockWaitMs,
    turns: TURNS,
    isBusy: (error) => codeOf(error).startsWith('SQLITE_BUSY'),
    translate: (error) => sqliteError(error, shown),
  });
}

/** Creates the file, so that SQLite gives the files next to it the same permissions. */
function touch(path: string, shown: string, create: boolean): void {
  try {
    if (create) makeFolder(dirname(path));
    closeSync(openSync(path, create ? 'a' : 'r+', 0o600));
  } catch (error) {
    const isNowhere = create && (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw isNowhere
      ? storePermission(shown, 'its folder cannot be created')
      : fileError(error as NodeJS.ErrnoException, shown);
  }
}

export function fileError(error: NodeJS.ErrnoException, shown: string): Error {
  const { code } = error;
  if (code === 'ENOENT') return missingStore(shown, 'does not exist');
  if (code === 'EISDIR') return notADatabase(shown, 'is a folder');
  // The first when the folder is created, the second when it is opened.
  if (code === 'EEXIST' || code === 'ENOTDIR') return notAFolder(shown);
  if (isDiskFull(error)) return fullStore(shown, writeProblem(error));
  if (isDenied(error)) return storePermission(shown, writeProblem(error));
  return unreachableStore(shown, writeProblem(error));
}

const codeOf = (error: unknown) => (error as { code?: unknown } | null)?.code?.toString() ?? '';

export function sqliteError(error: unknown, shown: string): unknown {
  const code = codeOf(error);
  if (!code.startsWith('SQLITE_')) return error;
  const { message } = error as Error;
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return lockedStore(shown);
  if (code.startsWith('SQLITE_NOTADB')) return notADatabase(shown, 'is not an SQLite database');
  if (/^SQLITE_(READONLY|PERM|AUTH)/.test(code)) return storePermission(shown, message);
  if (code.startsWith('SQLITE_FULL')) return fullStore(shown, message);
  if (code.startsWith('SQLITE_CANTOPEN')) return unreachableStore(shown, message);
  return storeFailed(shown, message);
}

const KEPT = /^(select|insert|update|delete|begin|commit|rollback|pragma synchronous)\b/;
const MOST_PREPARED = 200;

/** Statements that begin, end or prepare work. */
const CONTROL = /^(begin|commit|rollback|pragma)\b/;

/**
 * The part of libsql that Kysely uses. Whole numbers go in as integers; a boolean, which would end the process, is
 * refused. A `begin` is executed without a prepared statement: libsql does not reset one that was refused as busy, and
 * later transactions could then never end. Inside a transaction nothing is refused as busy.
 */
class StoreDatabase implements SqliteDatabase {
  /** Statements that are executed again and again: preparing one takes longer than executing it. */
  readonly #prepared = new Map<string, SqliteStatement>();

  constructor(private readonly inner: Libsql.Database) {}

  prepare(sql: string): SqliteStatement {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const statement = this.#prepare(sql);
    // Others may change tables, which statements were prepared for.
    if (!KEPT.test(sql) || this.#prepared.size >= MOST_PREPARED) this.#prepared.clear();
    if (KEPT.test(sql)) this.#prepared.set(sql, statement);
    return statement;
  }

  #prepare(sql: string): SqliteStatement {
    const statement = this.inner.prepare(sql);
    return {
      reader: statement.reader,
      all: (parameters) => statement.all(parameters.map(bound)),
      run: (parameters) => {
        if (CONTROL.test(sql)) {
          // An error that breaks a transaction for good, such as a full disk, has ended it already.
          if (sql !== 'rollback' || this.inner.inTransaction) this.inner.exec(sql);
          return NO_CHANGES;
        }
        if (!this.inner.inTransaction) throw new Error(`'${sql}' writes outside of a transaction: use exclusively`);
        return statement.run(parameters.map(bound)) as Changes;
      },
      iterate: (parameters) => statement.iterate(parameters.map(bound)),
    };
  }

  close(): void {
    this.inner.close();
  }
}

type Changes = ReturnType<SqliteStatement['run']>;

const NO_CHANGES: Changes = { changes: 0, lastInsertRowid: 0 };

function bound(value: unknown): string | number | bigint | null {
  if (typeof value === 'string' || typeof value === 'bigint' || value === null) return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  throw new TypeError(`a ${typeof value} cannot be stored`);
}
