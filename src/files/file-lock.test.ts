import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { FileLock } from './file-lock.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-lock-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Takes the lock as FileLock does, reports it, and keeps running. */
const HOLDER = `
  const Database = require('libsql');
  const database = new Database(process.argv[1], { timeout: 0 });
  database.exec('begin exclusive');
  process.stdout.write('taken');
  setInterval(() => database, 1000);
`;

describe('FileLock', () => {
  test('has one holder at a time, and is free again after release', async () => {
    const path = join(folder, 'a.lock');
    const lock = await FileLock.take(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['a.lock']);
    expect(await FileLock.take(path)).toBe(null);
    lock!.release();
    expect(existsSync(path)).toBe(false);
    const again = await FileLock.take(path);
    expect(again).not.toBe(null);
    again!.release();
  });

  test('held by another process is free when that process is killed', async () => {
    const path = join(folder, 'b.lock');
    const child = spawn(process.execPath, ['-e', HOLDER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    try {
      await once(child.stdout, 'data');
      expect(await FileLock.take(path)).toBe(null);
    } finally {
      child.kill('SIGKILL');
    }
    await ended;
    const lock = await FileLock.take(path);
    expect(lock).not.toBe(null);
    lock!.release();
  });

  test('is not taken through a file that its last holder has deleted', async () => {
    const path = join(folder, 'e.lock');
    const { default: Database } = await import('libsql');
    const first = (await FileLock.take(path))!;
    // Opened while the first holder has it, tried after it has deleted the file and another one has taken the new one.
    const late = new Database(path, { timeout: 0 });
    first.release();
    const second = (await FileLock.take(path))!;
    late.exec('begin exclusive');
    expect(await FileLock.take(path)).toBe(null);
    second.release();
    late.close();
  });

  test('waits until the holder releases it, and reports once that it waits', async () => {
    const path = join(folder, 'f.lock');
    const first = (await FileLock.take(path))!;
    const slept: number[] = [];
    let waits = 0;
    const sleep = async (ms: number) => {
      if (slept.push(ms) === 3) first.release();
    };
    const second = await FileLock.wait(path, sleep, () => waits++);
    expect([slept, waits]).toEqual([[500, 500, 500], 1]);
    second.release();
  });

  test('throws where there can be no such file', async () => {
    await expect(FileLock.take(join(folder, 'none', 'c.lock'))).rejects.toThrowError(
      expect.objectContaining({ code: 'ENOENT' }),
    );
    const path = join(folder, 'd.lock');
    writeFileSync(path, 'no database, but longer than the head of one: '.repeat(20));
    await expect(FileLock.take(path)).rejects.toThrowError(expect.objectContaining({ code: 'SQLITE_NOTADB' }));
    await expect(FileLock.take(folder)).rejects.toThrowError(expect.objectContaining({ code: 'EISDIR' }));
  });
});
