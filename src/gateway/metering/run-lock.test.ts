import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { RunLock } from './run-lock.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-lock-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Takes a lock as we do, says so, and stays. */
const HOLDER = `
  const Database = require('libsql');
  const database = new Database(process.argv[1], { timeout: 0 });
  database.exec('begin exclusive');
  process.stdout.write('taken');
  setInterval(() => database, 1000);
`;

describe('a lock', () => {
  test('is taken once, and again when it was given up', async () => {
    const path = join(folder, 'a.lock');
    const lock = await RunLock.take(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['a.lock']);
    expect(await RunLock.take(path)).toBe(null);
    lock!.release();
    expect(existsSync(path)).toBe(false);
    const again = await RunLock.take(path);
    expect(again).not.toBe(null);
    again!.release();
  });

  test('of another process holds until that is gone, even if it was killed', async () => {
    const path = join(folder, 'b.lock');
    const child = spawn(process.execPath, ['-e', HOLDER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    try {
      await once(child.stdout, 'data');
      expect(await RunLock.take(path)).toBe(null);
    } finally {
      child.kill('SIGKILL');
    }
    await ended;
    const lock = await RunLock.take(path);
    expect(lock).not.toBe(null);
    lock!.release();
  });

  test('cannot be where no file can', async () => {
    await expect(RunLock.take(join(folder, 'none', 'c.lock'))).rejects.toThrowError(
      expect.objectContaining({ code: 'ENOENT' }),
    );
    const path = join(folder, 'd.lock');
    writeFileSync(path, 'no database, but longer than the head of one: '.repeat(20));
    await expect(RunLock.take(path)).rejects.toThrowError(expect.objectContaining({ code: 'SQLITE_NOTADB' }));
    await expect(RunLock.take(folder)).rejects.toThrowError(expect.objectContaining({ code: 'EISDIR' }));
  });
});
