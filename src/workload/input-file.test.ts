import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readInputFile } from './input-file.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'input-file-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function written(name: string, content: Buffer | string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe('readInputFile', () => {
  it('reads plain files and gzip files under any name', async () => {
    expect((await readInputFile(written('a.csv', 'plain'))).toString()).toBe('plain');
    expect((await readInputFile(written('b.csv.gz', gzipSync('packed')))).toString()).toBe('packed');
    expect((await readInputFile(written('c.csv', gzipSync('packed too')))).toString()).toBe('packed too');
    expect((await readInputFile(written('empty', ''))).length).toBe(0);
  });

  it('refuses UTF-16 as such', async () => {
    const bytes = Buffer.from('version: 2\n', 'utf16le');
    for (const content of [bytes, gzipSync(bytes)]) {
      await expect(readInputFile(written('u', content))).rejects.toMatchObject({ code: 'FILE_UTF16' });
    }
  });

  it.each([
    ['cut off', gzipSync('x'.repeat(5000)).subarray(0, 20), 'FILE_DAMAGED', 'cut off'],
    ['garbled', Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]), 'FILE_DAMAGED', 'damaged'],
  ])('reports a gzip file that is %s', async (_, bytes, code, problem) => {
    const path = written('bad.gz', bytes);
    await expect(readInputFile(path)).rejects.toMatchObject({
      code,
      place: path,
      problem: expect.stringContaining(problem),
    });
  });

  it('reports a missing file and a folder', async () => {
    const missing = join(folder, 'missing.csv');
    await expect(readInputFile(missing)).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      place: missing,
      problem: 'no such file',
    });
    await expect(readInputFile(folder)).rejects.toMatchObject({ code: 'FILE_UNREADABLE', problem: 'is a folder' });
  });
});
