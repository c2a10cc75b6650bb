import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { removeAbandoned } from './remove-abandoned.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-abandoned-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('removes folders of jobs whose process is gone, and no others', async () => {
  const gone = spawnSync(process.execPath, ['--version']).pid;
  const now = Date.now();
  const [young, old] = [now, now - 86_400_000];
  for (const [name, at] of [
    [`twinyard-twin-${gone}-a`, old],
    [`twinyard-twin-${gone}-b`, young],
    [`twinyard-twin-${process.ppid}-c`, old],
    [`twinyard-twin-${process.pid}-d`, young],
    [`twinyard-other-${gone}-e`, old],
    [`twinyard-twin-${gone}-f`, old],
  ] as const) {
    mkdirSync(join(folder, name), { mode: name.endsWith('f') ? 0o755 : 0o700 });
    writeFileSync(join(folder, name, 'traffic.jsonl'), 'prompt lengths');
    utimesSync(join(folder, name), at / 1000, at / 1000);
  }
  symlinkSync(join(folder, `twinyard-other-${gone}-e`), join(folder, `twinyard-twin-${gone}-g`));
  await removeAbandoned(folder, now);
  expect(readdirSync(folder).map((name) => name.at(-1))).toEqual(
    expect.arrayContaining(['b', 'c', 'd', 'e', 'f', 'g']),
  );
  expect(readdirSync(folder)).toHaveLength(6);
});
