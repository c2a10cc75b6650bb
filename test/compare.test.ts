import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CLI } from './support/cli.js';

const BASE = '--model qwen/qwen3-14b --num-instances 2 --routing-policy round-robin,weighted --log info';
const FEW = '--rate 100 --num-requests 50 --seeds 3';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-workers-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function start(args: string) {
  const child = spawn(process.execPath, [CLI, 'compare', ...`${BASE} ${args}`.split(' ')]);
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (piece: string) => {
      text[name] += piece;
    });
  }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number, ...text }));
  return { child, ended };
}

const simulated = (stderr: string) => /(\d+) runs, (\d+) of them simulated now/.exec(stderr)!.slice(1).map(Number);

test('one worker and two print the same bytes, as do results that were kept', async () => {
  const args = `${FEW} --cache ${join(folder, 'runs')}`;
  const one = await start(`${FEW} --no-cache --workers 1`).ended;
  const two = await start(`${args} --workers 2`).ended;
  const kept = await start(args).ended;
  expect([one.code, two.code, kept.code]).toEqual([0, 0, 0]);
  expect(JSON.parse(one.stdout).variants).toHaveLength(2);
  expect(two.stdout).toBe(one.stdout);
  expect(kept.stdout).toBe(one.stdout);
  expect([one, two, kept].map(({ stderr }) => simulated(stderr))).toEqual([
    [6, 6],
    [6, 6],
    [6, 0],
  ]);
});

test('a worker process reports an invalid trace as the command itself does', async () => {
  const trace = join(folder, 'trace.jsonl');
  const line = { timestamp: 0, input_length: 5, output_length: 2, hash_ids: [1] };
  writeFileSync(trace, `${JSON.stringify(line)}\n${JSON.stringify({ ...line, output_length: 'two' })}\n`);
  const { code, stdout, stderr } = await start(`--trace-data ${trace} --no-cache`).ended;
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(`twinyard: ${trace}:2:`);
  expect(stderr).toContain('(output_length)');
});

test('an interrupted run resumes where it stopped', async () => {
  const runs = join(folder, 'runs');
  mkdirSync(runs);
  const args = `--rate 100 --num-requests 1000 --seeds 40 --cache ${runs}`;
  const watcher = watch(runs);
  const first = start(`${args} --workers 1`);
  // The first result is there: the process is in the middle of its work.
  for (;;) {
    const [, name] = await once(watcher, 'change');
    if (String(name).endsWith('.json')) break;
  }
  watcher.close();
  first.child.kill('SIGINT');
  const { code, stdout, stderr } = await first.ended;
  expect([code, stdout]).toEqual([130, '']);
  const kept = readdirSync(runs);
  expect(kept.every((name) => name.endsWith('.json'))).toBe(true);
  expect(kept.length).toBeGreaterThan(0);
  expect(kept.length).toBeLessThan(80);
  expect(stderr).toContain(`stopped; ${kept.length} of 80 runs are cached`);

  const second = await start(args).ended;
  expect(second.code).toBe(0);
  expect(simulated(second.stderr)).toEqual([80, 80 - kept.length]);
});
