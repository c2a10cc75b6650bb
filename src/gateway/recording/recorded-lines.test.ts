import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RecordedFiles } from './recorded-files.js';
import { recordedLines } from './recorded-lines.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-lines-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const line = (t: number, endpoint = 'chat') => `{"t_us":${t},"id":"r${t}","endpoint":"${endpoint}","model":"m"}`;
const written = (name: string, lines: string[], end = '\n') => {
  writeFileSync(join(folder, name), `${lines.join('\n')}${end}`);
  return join(folder, name);
};
const read = async (path: string, endpoint = 'chat', since = 0) => {
  const lines: string[] = [];
  for await (const one of recordedLines(path, endpoint, since)) lines.push(one);
  return lines;
};

it('are those of the endpoint since a time, oldest file first, without a line that is being written', async () => {
  written('a.jsonl.2', [line(1), line(2, 'other')]);
  written('a.jsonl.1', [line(3), line(4)]);
  const path = written('a.jsonl', [line(5), line(6).slice(0, 30)], '');
  expect(await read(path)).toEqual([line(1), line(3), line(4), line(5)]);
  expect(await read(path, 'chat', 4)).toEqual([line(4), line(5)]);
  expect(await read(path, 'other')).toEqual([line(2, 'other')]);
  expect(await read(path, 'cha')).toEqual([]);
});

it('are complete when files are rotated meanwhile', async () => {
  written('b.jsonl.1', [line(1)]);
  const path = written('b.jsonl', [line(2)]);
  const lines = recordedLines(path, 'chat', 0);
  expect((await lines.next()).value).toBe(line(1));
  renameSync(`${path}.1`, `${path}.2`);
  renameSync(path, `${path}.1`);
  written('b.jsonl', [line(3)]);
  expect([(await lines.next()).value, (await lines.next()).done]).toEqual([line(2), true]);
});

it('are complete when a rotation comes between the opening of two files, and the same each time', async () => {
  written('c.jsonl.1', [line(1)]);
  const path = written('c.jsonl', [line(2)]);
  // As in the middle of a rotation: the numbers above the gap are renamed already.
  renameSync(`${path}.1`, `${path}.2`);
  expect(await read(path)).toEqual([line(1), line(2)]);
  const files = await RecordedFiles.open(path);
  renameSync(path, `${path}.1`);
  written('c.jsonl', [line(3)]);
  for (let pass = 0; pass < 2; pass++) {
    const lines: string[] = [];
    for await (const one of files.lines('chat', 0)) lines.push(one);
    expect(lines).toEqual([line(1), line(2)]);
    rmSync(`${path}.2`, { force: true });
  }
  await files.close();
  expect(await read(path)).toEqual([line(2), line(3)]);
});

it('are none without a file, or with an empty one', async () => {
  expect(await read(join(folder, 'none.jsonl'))).toEqual([]);
  expect(await read(written('empty.jsonl', [], ''))).toEqual([]);
});
