import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompiledQuery } from 'kysely';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../open-store.js';
import { isStoreFailure } from './errors.js';
import { fileError, sqliteError } from './sqlite-dialect.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-sqlite-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const rightsOf = (path: string) => statSync(path).mode & 0o777;

describe('a store in a file', () => {
  it('may be read by its owner only, with its folder and its WAL files', async () => {
    const path = join(folder, 'new', 'deep', 'yard.db');
    const store = await openStore(path);
    await store.settings.set('a', '1');
    expect(rightsOf(join(folder, 'new'))).toBe(0o700);
    expect(rightsOf(join(folder, 'new', 'deep'))).toBe(0o700);
    for (const end of ['', '-wal', '-shm']) expect(rightsOf(path + end), end).toBe(0o600);
    await store.close();
  });

  it('keeps every acknowledged commit, and never blocks readers', async () => {
    const store = await openStore(join(folder, 'modes.db'));
    const { rows } = await store.db.executeQuery<{ journal_mode: string }>(CompiledQuery.raw('pragma journal_mode'));
    expect(rows).toEqual([{ journal_mode: 'wal' }]);
    expect((await store.db.executeQuery(CompiledQuery.raw('pragma synchronous'))).rows).toEqual([{ synchronous: 2 }]);
    await store.close();
  });

  it('is created only on request', async () => {
    const path = join(folder, 'typo.db');
    await expect(openStore(path, { create: false })).rejects.toMatchObject({ code: 'STORE_MISSING' });
    expect(readdirSync(folder)).not.toContain('typo.db');
    await (await openStore(path)).close();
    await (await openStore(path, { create: false })).close();
  });

  it('is refused if it is another kind of file, which stays unchanged', async () => {
    const text = join(folder, 'notes.txt');
    writeFileSync(text, 'no database, '.repeat(100));
    await expect(openStore(text)).rejects.toMatchObject({ code: 'STORE_NOT_A_DATABASE' });
    expect(readFileSync(text, 'utf8')).toBe('no database, '.repeat(100));
    const other = join(folder, 'other.db');
    const database = new Database(other);
    database.exec('create table customers (name text)');
    database.close();
    await expect(openStore(other)).rejects.toThrow("is another program's database");
    mkdirSync(join(folder, 'folder.db'));
    await expect(openStore(join(folder, 'folder.db'))).rejects.toThrow('is a folder');
  });

  it('is refused where no file can be created', async () => {
    writeFileSync(join(folder, 'file'), '');
    const inFile = openStore(join(folder, 'file', 'a.db'));
    await expect(inFile).rejects.toThrow('its data folder is a file; move that file');
    await expect(openStore(join(folder, 'file', 'b', 'a.db'))).rejects.toMatchObject({ code: 'STORE_FOLDER' });
    symlinkSync(join(folder, 'loop.db'), join(folder, 'loop.db'));
    await expect(openStore(join(folder, 'loop.db'))).rejects.toThrow('cannot be reached (too many symbolic links)');
  });
});

describe('a store on a full disk', () => {
  const pragma = (text: string) => CompiledQuery.raw(`pragma ${text}`);

  it.each(['past-power-cuts', 'past-crashes'] as const)(
    'reports it, and works again once there is space (%s)',
    async (lasts) => {
      const store = await openStore(join(folder, `full-${lasts}.db`));
      const write = (value: string) =>
        store.exclusively(
          (tx) =>
            tx
              .insertInto('settings')
              .values({ name: value.slice(0, 9), value })
              .execute(),
          lasts,
        );
      const { rows } = await store.db.executeQuery<{ page_count: number }>(pragma('page_count'));
      // The limit is of the connection that writes.
      const limit = (pages: number) => store.exclusively((tx) => tx.executeQuery(pragma(`max_page_count = ${pages}`)));
      await limit(rows[0]!.page_count);
      const refused = await write('x'.repeat(100_000)).catch((error) => error);
      expect(refused).toMatchObject({ code: 'STORE_FULL', message: expect.stringContaining('free some space') });
      await limit(100_000);
      await write('y'.repeat(100_000));
      expect([await store.settings.get('xxxxxxxxx'), (await store.settings.get('yyyyyyyyy'))?.length]).toEqual([
        null,
        100_000,
      ]);
      await store.close();
    },
  );
});

describe('a store in memory', () => {
  it('is gone when it is closed', async () => {
    const store = await openStore(':memory:');
    await store.settings.set('a', '1');
    expect(await store.settings.get('a')).toBe('1');
    await store.close();
    const next = await openStore(':memory:');
    expect(await next.settings.get('a')).toBeNull();
    await next.close();
  });

  it('refuses statements that bypass its rules', async () => {
    const store = await openStore(':memory:');
    const plain = store.db.insertInto('settings').values({ name: 'a', value: '1' }).execute();
    await expect(plain).rejects.toThrow('writes outside of a transaction');
    const wrong = true as unknown as string;
    const boolean = store.exclusively((tx) => tx.insertInto('settings').values({ name: 'a', value: wrong }).execute());
    await expect(boolean).rejects.toThrow('a boolean cannot be stored');
    await store.close();
  });
});

describe('errors of files', () => {
  it.each([
    ['ENOENT', 'STORE_MISSING'],
    ['EISDIR', 'STORE_NOT_A_DATABASE'],
    ['EACCES', 'STORE_PERMISSION'],
    ['EPERM', 'STORE_PERMISSION'],
    ['EROFS', 'STORE_PERMISSION'],
    ['EEXIST', 'STORE_FOLDER'],
    ['ENOTDIR', 'STORE_FOLDER'],
    ['ENOSPC', 'STORE_FULL'],
    ['EDQUOT', 'STORE_FULL'],
    ['EIO', 'STORE_UNREACHABLE'],
    [undefined, 'STORE_UNREACHABLE'],
  ])('%s is %s', (code, expected) => {
    const error = fileError(Object.assign(new Error('why'), code === undefined ? {} : { code }), 'a.db');
    expect(error).toMatchObject({ code: expected });
    expect(isStoreFailure(error)).toBe(true);
  });
});

describe('errors of SQLite', () => {
  it.each([
    ['SQLITE_BUSY', 'STORE_LOCKED'],
    ['SQLITE_LOCKED_SHAREDCACHE', 'STORE_LOCKED'],
    ['SQLITE_NOTADB', 'STORE_NOT_A_DATABASE'],
    ['SQLITE_READONLY', 'STORE_PERMISSION'],
    ['SQLITE_PERM', 'STORE_PERMISSION'],
    ['SQLITE_CANTOPEN', 'STORE_UNREACHABLE'],
    ['SQLITE_FULL', 'STORE_FULL'],
    ['SQLITE_IOERR_WRITE', 'STORE_FAILED'],
  ])('%s is %s', (code, expected) => {
    const error = sqliteError(Object.assign(new Error('why'), { code }), 'a.db');
    expect(error).toMatchObject({ code: expected, message: expect.stringContaining('store a.db: ') });
    expect(isStoreFailure(error)).toBe(true);
  });

  it('leave other errors alone', () => {
    for (const error of [new TypeError('a bug'), null, 'text']) {
      expect(sqliteError(error, 'a.db')).toBe(error);
      expect(isStoreFailure(error)).toBe(false);
    }
  });
});
