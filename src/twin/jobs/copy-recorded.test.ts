import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { copyRecorded } from './copy-recorded.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-copied-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('copies the requests of a time, and none from before the workspace was there', async () => {
  const [path, copy] = [join(folder, 'traffic.jsonl'), join(folder, 'copy.jsonl')];
  const line = (t: number) => `{"t_us":${t},"id":"r${t}","endpoint":"w/chat","model":"m"}\n`;
  writeFileSync(path, [1, 2, 3, 4, 5].map(line).join(''));
  const part = { path, endpoint: 'w/chat', sinceUs: 2, untilUs: 5 };
  expect(await copyRecorded({ ...part, leastUs: 0 }, copy)).toEqual({ requests: 3, dropped: 0, latestUs: 4 });
  expect(readFileSync(copy, 'utf8')).toBe([2, 3, 4].map(line).join(''));
  expect(await copyRecorded({ ...part, leastUs: 4 }, copy)).toMatchObject({ requests: 1 });
  expect(readFileSync(copy, 'utf8')).toBe(line(4));
});
