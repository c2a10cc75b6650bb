import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { RequestSamples } from '../src/gateway/prediction/request-samples.js';
import { ENGINE } from '../src/observe/fit/planted.fixture.js';
import type { FitJob } from '../src/twin/profiles/fit/fit-engine.js';
import { CLI } from './support/cli.js';

const FOLDER = dirname(CLI);

/** Runs the program after some code of a test. */
function started(args: readonly string[], preload: string) {
  const url = `data:text/javascript,${encodeURIComponent(preload)}`;
  return spawnSync(process.execPath, ['--import', url, CLI, ...args], {
    encoding: 'utf8',
    env: { ...process.env, TWINYARD_DEBUG: '1' },
  });
}

describe('the bundle', () => {
  test('names sources and their lines in stack traces', () => {
    const { status, stderr } = started(['version'], 'process.stdout.write = () => { throw new TypeError("broken") };');
    expect(status).toBe(1);
    const line = readFileSync('src/cli/version.ts', 'utf8')
      .split('\n')
      .findIndex((text) => text.includes('stdout.write'));
    expect(stderr).toContain(`at version (src/cli/version.ts:${line + 1}:`);
    expect(stderr).not.toContain('dist/bundle');
  });

  test('has a source map for every file of code', () => {
    const files = readdirSync(FOLDER).filter((name) => name.endsWith('.js'));
    expect(files.length).toBeGreaterThan(20);
    // Files that only pass on the exports of others have nothing to map.
    const coded = files.filter((name) => /\b(function|class|const)\b/.test(readFileSync(join(FOLDER, name), 'utf8')));
    expect(coded.filter((name) => !existsSync(join(FOLDER, `${name}.map`)))).toEqual([]);
    expect(readdirSync(FOLDER).filter((name) => /\.d\.ts$|test|fixture/.test(name))).toEqual([]);
  });

  test('has the program of every thread beside the file that starts it', () => {
    const programs = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !/\.(test|fixture|contract)\.ts$/.test(name))
      .flatMap((name) => [
        ...readFileSync(join('src', name), 'utf8').matchAll(/new URL\('\.\/([\w-]+\.js)', import\.meta\.url\)/g),
      ])
      .map(([, program]) => program!);
    expect(programs).toContain('fit-worker.js');
    expect(programs.filter((program) => !existsSync(join(FOLDER, program)))).toEqual([]);
  });

  test('fits in its thread', async () => {
    const columns = new RequestSamples().columns();
    const names = { name: 'none', model: 'm', hardware: 'H100', tp: 1 };
    const job: FitJob = { columns, engine: ENGINE, start: { kind: 'data' }, current: null, names };
    const worker = new Worker(join(FOLDER, 'fit-worker.js'), { workerData: job });
    const [run] = await once(worker, 'message');
    expect(run).toMatchObject({ outcome: null, busyMs: expect.any(Number) });
    // Loading its program counts: the next fit waits for it.
    expect(run.restMs).toBeGreaterThan(run.busyMs);
    await worker.terminate();
  });

  test('loads a run from few files, and nothing of the gateway', () => {
    const hook = 'export async function load(url, context, next) { console.error(url); return next(url, context); }';
    const preload = `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)});`;
    const { status, stderr } = started(['run', '--model', 'qwen/qwen3-14b', '--num-requests', '2'], preload);
    expect(status).toBe(0);
    const own = stderr.split('\n').filter((url) => url.startsWith(pathToFileURL(FOLDER).href));
    expect(own.length).toBeGreaterThan(1);
    expect(own.length).toBeLessThan(15);
    expect(own.filter((url) => /gateway|control|serve/.test(url))).toEqual([]);
  });
});
