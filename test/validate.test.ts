import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RunningEngine } from '../src/emulator/start-engine.js';
import type { CalibrationDocument } from '../src/observe/calibrate/calibration.js';
import type { ResultDocument } from '../src/simulator/result-document.js';
import { fakeEngine, until } from './support/engine-fixture.js';
import { captured, type Ended } from './support/test-io.js';

let folder: string;
const before = process.cwd();
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-validate-'));
  process.chdir(folder);
});
beforeEach(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
});
afterAll(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true });
});

const SIM = '--sim-model qwen/qwen3-14b';
// As fast as possible, so that delays of the sender do not count.
const LOAD =
  '--rate 2000 --num-requests 24 --prompt-tokens 40 --prompt-tokens-stdev 10 --output-tokens 6 --output-tokens-stdev 2 --max-lateness-ms 0';

function validate(
  engine: RunningEngine,
  flags: string,
  stopped: Promise<void> = new Promise(() => {}),
): Promise<Ended> {
  return captured(`validate --server-url ${engine.url} --model tiny ${flags}`, { stopped });
}

const read = (path: string) => readFileSync(path, 'utf8');
const FILES = ['calibration.json', 'metrics.json', 'observed.csv', 'observed.yaml', 'results.json'];

describe('validate', () => {
  test('observes, replays with the settings of the server, compares, and keeps all of it', async () => {
    const engine = await fakeEngine();
    const ended = await validate(engine, `${LOAD} ${SIM} --max-num-seqs 16 --warmup-requests 4 --report page.html`);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const document = JSON.parse(ended.stdout) as CalibrationDocument;
    expect(document.trace_info).toEqual({
      num_requests: 20,
      warm_up_excluded: 0,
      matched_pairs: 20,
      token_mismatches: 0,
    });
    expect(Object.keys(document.metrics)).toEqual(['ttft', 'e2e', 'itl']);
    expect(document.hit_rate).toMatchObject({ real_hit_rate: 0, sim_hit_rate: 0 });
    expect(readdirSync('validation').sort()).toEqual(FILES);
    expect(read('validation/calibration.json')).toBe(ended.stdout);
    expect(read('page.html')).toContain(`<h1>tiny at ${engine.url} against its prediction</h1>`);

    const { config } = JSON.parse(read('validation/metrics.json')) as ResultDocument;
    expect(config.replica).toMatchObject({ model: 'qwen/qwen3-14b', maxNumSeqs: 16, totalKvBlocks: 1000 });

    // What is kept can be compared again.
    const again = 'calibrate --trace validation/observed --sim-results validation/results.json';
    const compared = await captured(`${again} --sim-metrics validation/metrics.json`);
    expect(compared).toEqual({ code: 0, stdout: ended.stdout, stderr: '' });
  });

  test('passes flags on to the commands that know them', async () => {
    const engine = await fakeEngine();
    const flags = `${LOAD} ${SIM} --record-itl --scrape-kv-metrics --scheduler sjf --num-instances 2 --format table`;
    const { code, stderr, stdout } = await validate(engine, `${flags} --output-dir kept`);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^tiny at http.* against its prediction\n24 of 24 requests compared/);
    expect(readdirSync('kept').sort()).toEqual([...FILES, 'observed.itl.csv', 'observed.metrics.csv'].sort());
    const { config } = JSON.parse(read('kept/metrics.json')) as ResultDocument;
    expect([config.instances, config.replica.scheduler]).toEqual([2, 'sjf']);
    const { notes, trace_info } = JSON.parse(read('kept/calibration.json')) as CalibrationDocument;
    expect(trace_info).toHaveProperty('itl_dropped');
    expect(notes.join()).not.toContain('--itl-data');
  });

  test('fails when a tolerance that was given is missed, with everything written', async () => {
    const engine = await fakeEngine();
    const { code, stderr, stdout } = await validate(engine, `${LOAD} ${SIM} --e2e-mean-threshold 0`);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^twinyard: missed: --e2e-mean-threshold: .* % \(limit 0\.0 %\)\n$/);
    expect(stdout).toBe(read('validation/calibration.json'));
  });

  test('keeps what was observed when it cannot be replayed, and nothing of an earlier validation', async () => {
    const engine = await fakeEngine();
    mkdirSync('validation');
    writeFileSync('validation/results.json', 'old');
    const { code, stderr, stdout } = await validate(engine, LOAD);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /^twinyard: the observation is kept in validation\ntwinyard: --sim-model: 'tiny' is not in the catalogue; .*\n$/,
    );
    expect(readdirSync('validation').sort()).toEqual(['observed.csv', 'observed.yaml']);
  });

  test('keeps and marks the results of a server that does not respond', async () => {
    const engine = await fakeEngine();
    // It serves the first requests, by which its tokens are counted.
    void until(() => engine.stats().tokensOut > 0).then(() => engine.faults({ failRate: 1 }));
    const { code, stderr, stdout } = await validate(engine, `${LOAD} ${SIM}`);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/no request was completed: http_500 24\n/);
    expect(stderr).toContain('twinyard: the observation is kept in validation, with its replay\n');
    expect(stderr).toMatch(/\ntwinyard: validation\/observed.csv: none of 24 requests has a response time; .*\n$/);
    expect(existsSync('validation/calibration.json')).toBe(false);
  });

  test('leaves an earlier validation as it was when the server is not there', async () => {
    const engine = await fakeEngine();
    await engine.close();
    mkdirSync('validation');
    writeFileSync('validation/results.json', 'old');
    const { code, stderr } = await validate(engine, `${LOAD} ${SIM}`);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^twinyard: http:[^\n]*ECONNREFUSED[^\n]*\n$/);
    expect(read('validation/results.json')).toBe('old');
  });

  test('compares and marks what was measured until it was stopped', async () => {
    const engine = await fakeEngine();
    const stopped = until(() => engine.stats().tokensOut > 200);
    const load = LOAD.replace('--rate 2000 --num-requests 24', '--concurrency 1 --num-requests 100000');
    const { code, stderr, stdout } = await validate(engine, `${load} ${SIM} --format table`, stopped);
    expect(code).toBe(1);
    expect(stderr).toContain('the observation is partial');
    expect(stdout).toContain('\nthe trace is partial: ');
    expect(existsSync('validation/calibration.json')).toBe(true);
  });
});

describe('what cannot work is refused before anything is sent', () => {
  test.each([
    ['--e2e-mean-threshold lots', "--e2e-mean-threshold: 'lots' is not a number"],
    ['--sim-model nobody/knows', "--sim-model: 'nobody/knows' is not in the catalogue"],
    [`${SIM} --scheduler best`, "--scheduler: 'best' is not known"],
    [`${SIM} --alpha-coeffs 1,2,3`, '--alpha-coeffs: given without --beta-coeffs'],
    [`${SIM} --tp 3`, '--tp:'],
    [
      `${SIM} --report validation/results.json`,
      "--report: names 'validation/results.json', which --output-dir names too",
    ],
    [`${SIM} --trace-output x`, '--trace-output: no such flag'],
  ])('%s', async (flags, message) => {
    const engine = await fakeEngine();
    const { code, stderr, stdout } = await validate(engine, `${LOAD} ${flags}`);
    expect(stderr).toContain(message);
    expect({ code, stdout, tokens: engine.stats().promptTokens }).toEqual({ code: 2, stdout: '', tokens: 0 });
  });

  test('a server, a model and a load are needed', async () => {
    const missing = async (args: string) => (await captured(args)).stderr;
    expect(await missing('validate')).toContain('--server-url: is required');
    expect(await missing('validate --server-url http://127.0.0.1:1')).toContain('--model: is required');
    expect(await missing('validate --server-url http://127.0.0.1:1 --model tiny')).toContain(
      'another plan is required',
    );
    writeFileSync('file', '');
    const { stderr } = await captured(
      'validate --server-url http://127.0.0.1:1 --model tiny --rate 1 --output-dir file/x',
    );
    expect(stderr).toContain("--output-dir: cannot write 'file/x'");
  });
});
