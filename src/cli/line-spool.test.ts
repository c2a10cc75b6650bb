import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LineSpool } from './line-spool.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function content(spool: LineSpool): string {
  return Buffer.concat([...spool.pieces()].map((piece) => Buffer.from(piece))).toString('utf8');
}

it.each([1, 10, 1000])('gives back all lines with room for %d characters', (memory) => {
  const spool = new LineSpool(join(folder, 'decisions'), memory);
  const lines = Array.from({ length: 50 }, (_, i) => `line ${i} µ`);
  for (const line of lines) spool.add(line);
  expect(content(spool)).toBe(lines.map((line) => `${line}\n`).join(''));
  spool.close();
});

it('has no name in the folder while it is in use', () => {
  const spool = new LineSpool(join(folder, 'decisions'), 1);
  spool.add('spilled');
  expect(readdirSync(folder)).toEqual([]);
  spool.close();
});

it('is empty without lines', () => {
  expect(content(new LineSpool(join(folder, 'decisions')))).toBe('');
});
