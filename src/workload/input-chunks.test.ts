import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { forEachLine, inputChunks } from './input-chunks.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-chunks-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function linesOf(path: string): Promise<[string, number][]> {
  const lines: [string, number][] = [];
  await forEachLine(path, (line, number) => lines.push([line, number]));
  return lines;
}

const LONG = Array.from({ length: 90_000 }, (_, i) => `line ${i} ${'ü'.repeat(i % 40)}`);

describe('forEachLine', () => {
  it.each([
    ['plain', 'a\nb\n'],
    ['without a last newline', 'a\nb'],
    ['with carriage returns', 'a\r\nb\r\n'],
    ['with a byte order mark', '\ufeffa\nb\n'],
    ['gzipped', gzipSync('a\nb\n')],
  ])('returns the lines of a file %s', async (name, content) => {
    expect(await linesOf(file(name, content))).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
  });

  it.each([
    ['long', (text: string) => Buffer.from(text)],
    ['long.gz', (text: string) => gzipSync(text)],
  ])('joins lines that span two chunks: %s', async (name, pack) => {
    const lines = await linesOf(file(name, pack(`${LONG.join('\n')}\n`)));
    expect(lines.map(([line]) => line)).toEqual(LONG);
  });

  it('returns none for an empty file', async () => {
    expect(await linesOf(file('empty', ''))).toEqual([]);
  });
});

describe('inputChunks', () => {
  it.each([
    ['missing', () => join(folder, 'none'), 'FILE_UNREADABLE', 'no such file'],
    ['a folder', () => folder, 'FILE_UNREADABLE', 'is a folder'],
    ['cut off', () => file('cut.gz', gzipSync('abc'.repeat(1000)).subarray(0, 20)), 'FILE_DAMAGED', 'cut off'],
    ['damaged', () => file('bad.gz', Buffer.from([0x1f, 0x8b, 9, 9, 9, 9])), 'FILE_DAMAGED', 'damaged'],
  ])('reports a file that is %s', async (_, path, code, problem) => {
    const read = async () => {
      for await (const chunk of inputChunks(path())) expect(chunk.length).toBeGreaterThan(0);
    };
    await expect(read()).rejects.toThrowError(
      expect.objectContaining({ code, problem: expect.stringContaining(problem) }),
    );
  });
});

describe('UTF-16', () => {
  const bytes = Buffer.from('\ufeffa,b\n', 'utf16le');

  it.each([
    ['plain.csv', bytes],
    ['packed.csv.gz', gzipSync(bytes)],
  ])('is refused as such in %s', async (name, content) => {
    const path = file(name, content);
    await expect(linesOf(path)).rejects.toThrow(`${path}: UTF-16 text; save it as UTF-8`);
  });
});
