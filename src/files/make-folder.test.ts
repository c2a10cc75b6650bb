import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeFolder } from './make-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-folder-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('makeFolder', () => {
  it('creates missing folders, readable by their owner only, and leaves existing ones', () => {
    const path = join(folder, 'a', 'b', 'c');
    makeFolder(path);
    expect([statSync(path).mode & 0o777, statSync(join(folder, 'a')).mode & 0o777]).toEqual([0o700, 0o700]);
    makeFolder(path);
    makeFolder(`${path}/d/`);
    makeFolder('.');
    expect(statSync(join(path, 'd')).isDirectory()).toBe(true);
  });

  it('reports a file in place of a folder', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(() => makeFolder(file)).toThrowError(expect.objectContaining({ code: 'EEXIST' }));
    expect(() => makeFolder(join(file, 'a'))).toThrowError(expect.objectContaining({ code: 'ENOTDIR' }));
  });

  it('throws where no folder can be created', ({ skip }) => {
    skip(!existsSync('/proc/self'), 'there is no /proc here');
    for (const path of ['/proc/twinyard', '/proc/twinyard/data', '/proc/self/twinyard/a/b']) {
      expect(() => makeFolder(path)).toThrowError(expect.objectContaining({ code: 'ENOENT' }));
    }
  });
});
