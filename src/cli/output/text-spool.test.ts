import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { spoolBeside, TextSpool } from './text-spool.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function content(spool: TextSpool): string {
  return Buffer.concat([...spool.pieces()].map((piece) => Buffer.from(piece))).toString('utf8');
}

it.each([1, 10, 1000])('returns everything with memory for %d characters', (memory) => {
  const spool = new TextSpool(join(folder, 'decisions'), memory);
  const lines = Array.from({ length: 50 }, (_, i) => `line ${i} µ\n`);
  for (const line of lines) spool.add(line);
  expect(content(spool)).toBe(lines.join(''));
  spool.close();
});

it('has no name in the folder while it is in use', () => {
  const spool = new TextSpool(join(folder, 'decisions'), 1);
  spool.add('spilled');
  expect(readdirSync(folder)).toEqual([]);
  spool.close();
});

it('is empty at first', () => {
  expect(content(new TextSpool(join(folder, 'decisions')))).toBe('');
});

it('is kept beside files, and with other temporary files for devices', () => {
  expect(spoolBeside(join(folder, 'new'))).toBe(join(folder, 'new'));
  expect(spoolBeside('/dev/null').startsWith(tmpdir())).toBe(true);
});
