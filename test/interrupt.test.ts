import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CLI } from './support/cli.js';

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends a long run at once and leaves no file behind', async (signal) => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-interrupt-'));
  const outputs = [
    '--metrics-path',
    'a.json',
    '--results-path',
    'b.json',
    '--decisions-path',
    'c.jsonl',
    '--trace-output',
    'd',
  ];
  const load = [
    '--num-requests',
    '5000000',
    '--rate',
    '100000',
    '--num-instances',
    '4',
    '--trace-level',
    'decisions',
    '--log',
    'info',
  ];
  const child = spawn(process.execPath, [CLI, 'run', '--model', 'qwen/qwen3-14b', ...load, ...outputs], {
    cwd: folder,
  });
  // The first line of the log comes when everything is checked and the work begins.
  await once(child.stderr, 'data');
  child.kill(signal);
  const [code, killedBy] = await once(child, 'exit');
  expect(killedBy ?? code).toBe(signal);
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});
