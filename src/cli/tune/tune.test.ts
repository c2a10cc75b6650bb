import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TuneDocument } from '../../experiment/tune/tune-document.js';
import { captured as twinyard } from '../test-io.fixture.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-tune-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const FLEET = '--model qwen/qwen3-14b --num-instances 3';
const SMALL = `${FLEET} --num-requests 12 --rate 50 --budget 80 --no-cache`;

describe('tune', () => {
  it('prints its verdict first and writes policies that run reads', async () => {
    const path = join(folder, 'tuned.yaml');
    const page = join(folder, 'tuned.html');
    const { code, stdout } = await twinyard(
      `tune ${SMALL} --objective ttft_mean --format table --output ${path} --report ${page}`,
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^(Serve|Keep) /);
    const file = readFileSync(path, 'utf8');
    expect(file).toMatch(/^# (Serve|Keep) .*\n# Tuned with seeds 42 to 47/);
    const run = await twinyard(`run ${FLEET} --num-requests 12 --rate 50 --policy-config ${path}`);
    expect(run.code).toBe(0);
    expect(file).toContain(`policy: ${JSON.parse(run.stdout).config.routing.policy}\n`);
    expect(readFileSync(page, 'utf8')).toMatch(/<h1>(Serve|Keep) .*<svg/s);
  });

  it('tunes on the first part of a trace and judges on the last', async () => {
    const lines = Array.from({ length: 400 }, (_, i) =>
      JSON.stringify({
        timestamp: i * 20,
        input_length: 600 + (i % 7) * 100,
        output_length: 4,
        hash_ids: [i % 5, 100 + i],
      }),
    );
    const path = join(folder, 'mooncake.jsonl');
    writeFileSync(path, `${lines.join('\n')}\n`);
    const { code, stdout } = await twinyard(`tune ${FLEET} --trace ${path} --budget 80 --no-cache --format json`);
    expect(code).toBe(0);
    const document = JSON.parse(stdout) as TuneDocument;
    expect(document.parts).toBe('tuned on the first 60 % of the trace in 6 windows, judged on the rest in 4');
    expect(document.runs).toBeLessThanOrEqual(80);
  });

  it('reads a file, and flags win over it', async () => {
    const path = join(folder, 'tune.yaml');
    const base = 'base: { model: qwen/qwen3-14b, num-instances: 3, num-requests: 12, rate: 50 }';
    writeFileSync(path, `kind: Tune\n${base}\nobjective: e2e_mean\npolicies: [lmetric, sticky]\nbudget: 80\n`);
    const { code, stdout } = await twinyard(`tune ${path} --no-cache --objective ttft_mean`);
    expect(code).toBe(0);
    const { finalists, objective } = JSON.parse(stdout) as TuneDocument;
    expect(objective.key).toBe('ttft_mean_ms');
    expect(new Set(finalists.map(({ name }) => name.split(' ')[0]))).toEqual(new Set(['unified', 'lmetric', 'sticky']));
  });

  it.each([
    ['kind: Tune\nbudgt: 80\n', ':2:1 (budgt)'],
    ['kind: Tune\nbase: { model: qwen/qwen3-14b }\nbudget: 8\n', ':3:9 (budget)'],
    ['kind: Sweep\n', ':1:7 (kind)'],
    ['kind: Tune\nbase: { rates: 8 }\n', ':2:9 (base.rates)'],
  ])('names the place of a problem in the file %j', async (text, place) => {
    const path = join(folder, 'bad.yaml');
    writeFileSync(path, text);
    const { code, stderr } = await twinyard(`tune ${path} --no-cache`);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`bad.yaml${place}`)]);
  });

  it('finds the smallest fleet of those given', async () => {
    const constraint = '--constraint ttft_p99<=60s';
    const { code, stdout } = await twinyard(
      `tune ${SMALL} --objective cost --fleet-sizes 3,1,2 --format table ${constraint}`,
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^1 replica \(1 GPU\) keeps the constraints/);
  });

  it.each([
    ['--objective speed', 'UNKNOWN_MEASURE', '--objective'],
    ['--objective fitness', 'CONFLICTING_FLAGS', 'has no weights'],
    ['--objective goodput', 'CONFLICTING_FLAGS', 'has no targets'],
    ['--objective cost', 'CONFLICTING_FLAGS', '--fleet-sizes'],
    ['--objective cost --fleet-sizes 2', 'CONFLICTING_FLAGS', '--constraint'],
    ['--fleet-sizes 2', 'CONFLICTING_FLAGS', 'only for the objective cost'],
    ['--objective cost --fleet-sizes two --constraint ttft_p99<=1s', '', '--fleet-sizes'],
    ['--constraint ttft_p99', 'BAD_CONSTRAINT', '--constraint'],
    ['--knobs routing,speed', '', '--knobs'],
    ['--policies lmetric,fastest', '', '--policies'],
    ['--budget 10', '', '--budget'],
  ])('refuses %s', async (flags, _code, text) => {
    const { code, stdout, stderr } = await twinyard(`tune ${SMALL.replace(' --budget 80', '')} ${flags}`);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(text);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
