import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Interval, RequestErrors } from '../../observe/fit/fit-report.js';
import { readProfile } from '../../replica/latency/profile-file.js';
import type { FitDocument } from '../../report/calibrate/fit-table.js';
import { inTestFolder, silent } from '../test-folder.fixture.js';
import { captured as twinyard } from '../test-io.fixture.js';

/** 160 requests to an emulated engine that is 15 % slower than its model says. */
const OBSERVED = fileURLToPath(new URL('../../../examples/slow-engine', import.meta.url));
const FIT = `calibrate --fit --trace ${OBSERVED} -o slow.json`;

inTestFolder(() => {});

/** As printed: keys in the spelling of all documents. */
interface PrintedFit extends Omit<FitDocument, 'report'> {
  report: {
    data: { name: string; kind: string; used: number; held_out: number }[];
    parameters: Interval[];
    requests: { fitted: RequestErrors; held_out: RequestErrors }[];
  };
}

const documentOf = async (args: string) => JSON.parse(await silent(args)) as PrintedFit;

/** Single steps whose times follow a plain rule: 5 ms, 40 us for each request, a fiftieth us for each token of context. */
function stepTable(path: string, count: number): void {
  const names = 'decode_seqs,decode_context,prefill_seqs,prefill_tokens_each,prefill_context,samples,wall_us_median';
  const rows = Array.from({ length: count }, (_, i) => {
    const [decodes, context] = [1 + (i % 16) * 16, 128 * (1 + (i % 7))];
    const isPrompt = i % 3 === 0;
    return isPrompt
      ? `0,0,1,${16 * (1 + (i % 32))},0,7,${6000 + 20 * 16 * (1 + (i % 32))}`
      : `${decodes},${context},0,0,0,7,${5000 + 40 * decodes + 0.02 * decodes * context}`;
  });
  writeFileSync(path, `${[names, ...rows].join('\n')}\n`);
}

/** What a gateway records of requests to two engines, the second after waiting a second in the gateway. */
function traffic(path: string, requests: readonly number[]): void {
  const lines = requests.flatMap((count, replica) =>
    Array.from({ length: count }, (_, i) => {
      const t = 1e15 + 300_000 * i + 1000 * replica;
      const sent = t + 1_000_000 * replica;
      const output = 5 + (i % 20);
      const first = sent + 40_000 + (i % 13) * 1000;
      return {
        ...{ t_us: t, model: 'qwen/qwen3-14b', input_tokens: 100 + 10 * (i % 50), output_tokens: output },
        ...{ block_size: 16, blocks: [], status: 200, replica: `engine-${replica}`, dispatch_us: sent },
        ...{ first_token_us: first, end_us: first + (output - 1) * 13_000 },
      };
    }),
  );
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  writeFileSync(path, `${text}\n{"t_us":1000000000000000,"model":"qwen/qwen3-14b","input_`);
}

/** One fit on a terminal for all tests of what it prints and writes: a fit takes seconds. */
let fitted: { document: PrintedFit; stderr: string; profile: string };

beforeAll(async () => {
  const { code, stderr, stdout } = await twinyard(FIT, { isTTY: true });
  expect(code).toBe(0);
  fitted = { document: JSON.parse(stdout) as PrintedFit, stderr, profile: readFileSync('slow.json', 'utf8') };
});

/** Paths make the tables of tests wide. */
const WIDE = { env: { COLUMNS: '200' } };

describe('calibrate --fit', () => {
  it('finds a profile that predicts held-out requests', () => {
    const { before, report, ...rest } = fitted.document;
    expect(rest).toEqual({ profile: 'slow', model: 'qwen/qwen3-14b', hardware: 'H100', tp: 1 });
    expect(report.data).toEqual([{ name: `${OBSERVED}.csv`, kind: 'requests', used: 160, held_out: 32 }]);
    const [was] = before;
    const after = report.requests[0]!.held_out;
    expect(was).toMatchObject({ requests: 32, itl: expect.closeTo(-0.15, 2) });
    for (const measure of ['ttft', 'itl', 'e2e'] as const) {
      expect(Math.abs(was![measure])).toBeGreaterThan(0.08);
      expect(Math.abs(after[measure])).toBeLessThan(0.04);
    }
    for (const { high, low, value } of report.parameters) expect([low! <= value, value <= high!]).toEqual([true, true]);
    writeFileSync('slow.json', fitted.profile);
    expect(readProfile('slow.json')).toMatchObject({
      ...{ version: 1, name: 'slow', model: 'qwen/qwen3-14b', hardware: 'H100', tp: 1 },
      scheduler: { blockSize: 16, totalKvBlocks: 15909, maxNumSeqs: 256 },
    });
  });

  it('writes a profile for replay, which then predicts the trace', async () => {
    writeFileSync('slow.json', fitted.profile);
    await silent(`replay --trace ${OBSERVED} --latency-profile slow.json --results-path results.json`);
    const limits = '--e2e-mean-threshold 0.02 --itl-mean-threshold 0.02 --ttft-mean-threshold 0.05';
    await silent(`calibrate --trace ${OBSERVED} --sim-results results.json ${limits}`);
    // A profile of a similar engine is a start for the next fit.
    const again = await documentOf(`${FIT.replace('slow.json', 'again.json')} --latency-profile slow.json`);
    expect(again.report.parameters[0]).toMatchObject({ name: 'fixed_factor', value: expect.closeTo(1, 1) });
    expect(Math.abs(again.before[0]!.e2e)).toBeLessThan(0.03);
  });

  it('prints a table', async () => {
    const table = await silent(`${FIT} --profile-name lab --format table --held-out 0`, WIDE);
    expect(table).toMatch(/^lab: qwen\/qwen3-14b on H100, tp 1\n\nData +used +held out\n\S+ +160 requests +0\n/);
    expect(table).toMatch(/\nCoefficient +value +95 % from +to\nweights_us +[\d,.]+ +[\d,.]+ +[\d,.]+\n/);
    expect(table).toMatch(
      /\nError of means +requests +first token +between tokens +whole request\n\S+ +all, after +160 /,
    );
    expect(table).toContain('\nNotes\nToo few requests at the end of');
    expect(table).not.toContain('before');
  });

  it('takes several traces, and tries unknown settings', async () => {
    writeFileSync('part.yaml', readFileSync(`${OBSERVED}.yaml`));
    writeFileSync('part.csv', readFileSync(`${OBSERVED}.csv`, 'utf8').split('\n').slice(0, 101).join('\n'));
    const flags = '--try-max-num-seqs 256,2 --try-max-num-batched-tokens 2048 --format table';
    const table = await silent(`calibrate --fit --trace part --trace part.csv -o slow.json ${flags}`, WIDE);
    expect(table.match(/held out, after/g)).toHaveLength(2);
    expect(table).toMatch(/\nSettings tried +unexplained\n\S*maxNumSeqs 256.*\n.*maxNumSeqs 2\b.*\n/);
    expect(readProfile('slow.json').scheduler).toMatchObject({ maxNumSeqs: 256, maxNumBatchedTokens: 2048 });
  });

  it('takes measured steps alone, and with a trace', async () => {
    stepTable('steps.csv', 120);
    const alone = 'calibrate --fit --step-table steps.csv --model acme/rocket --hardware LAB -o steps.json';
    const table = await silent(`${alone} --format table`);
    expect(table).toMatch(/^steps: acme\/rocket on LAB, tp 1\n/);
    expect(table).toMatch(/\nError of steps +steps +median +p90 +all together\nfitted +120 /);
    const { step } = readProfile('steps.json');
    expect(step.decodeContextUs).toBeCloseTo(0.02, 3);
    const both = await documentOf(`${FIT} --step-table steps.csv`);
    expect(both.report.data.map(({ kind, used }) => [kind, used])).toEqual([
      ['steps', 120],
      ['requests', 160],
    ]);
    expect(both.before).toHaveLength(1);
  });

  it('takes the steps of a run', async () => {
    const names =
      'start_us,end_us,prefill_tokens,prefill_seqs,prefill_attention_pairs,decode_seqs,decode_context_tokens,decode_context_max,kv_blocks_used';
    const rows = Array.from(
      { length: 200 },
      (_, i) => `${i * 9000},${i * 9000 + 8500},0,0,0,${1 + (i % 8)},900,120,60`,
    );
    writeFileSync('run.csv', `${[names, ...rows].join('\n')}\n`);
    const table = await silent(
      'calibrate --fit --step-table run.csv --model m --hardware g -o run.json --format table',
    );
    expect(table).toMatch(/\nfitted +200 .*\nheld out +40 /);
    expect(table).not.toContain('decode_context_max');
    const shorter = [names.replace('decode_context_max,', ''), ...rows.map((row) => row.replace(',120,60', ',60'))];
    writeFileSync('run.csv', `${shorter.join('\n')}\n`);
    expect(
      await silent('calibrate --fit --step-table run.csv --model m --hardware g -o run.json --format table', WIDE),
    ).toContain('run.csv has no column decode_context_max: the cost of contexts that differ in length is not known');
  });

  it('writes a profile of any model that replay takes, too', async () => {
    stepTable('steps.csv', 120);
    const fit = 'calibrate --fit --step-table steps.csv --model acme/rocket -o steps.json';
    const replica = async (flags = '') => {
      const { code, stderr, stdout } = await twinyard(
        `replay --trace ${OBSERVED} --latency-profile steps.json ${flags}`,
      );
      expect(code).toBe(0);
      return { ...(JSON.parse(stdout).config.replica as { totalKvBlocks: number; maxModelLen: number }), stderr };
    };
    // A header of the trace would say how large the cache of its own server is.
    const header = readFileSync(`${OBSERVED}.yaml`, 'utf8');
    writeFileSync('seen.yaml', header.slice(0, header.indexOf('server:')));
    writeFileSync('seen.csv', readFileSync(`${OBSERVED}.csv`));
    const own = async (flags = '') => {
      const { code, stderr, stdout } = await twinyard(`replay --trace seen --latency-profile steps.json ${flags}`);
      expect(code).toBe(0);
      return { ...(JSON.parse(stdout).config.replica as { totalKvBlocks: number; maxModelLen: number }), stderr };
    };
    await silent(`${fit} --hardware LAB`);
    expect(readProfile('steps.json').dimensions).toBeUndefined();
    expect((await own()).stderr).toContain(
      "neither the profile 'steps' nor the catalogue says how large the KV cache is",
    );
    expect(await own('--total-kv-blocks 900')).toMatchObject({ totalKvBlocks: 900, maxModelLen: 14_400, stderr: '' });
    await silent(`${fit} --hardware LAB --total-kv-blocks 700 --max-model-len 2048 --max-num-seqs 9`);
    expect(await own()).toMatchObject({ totalKvBlocks: 700, maxModelLen: 2048, maxNumSeqs: 9, stderr: '' });
    const folder = fileURLToPath(new URL('../../../catalogue/models/qwen3-14b', import.meta.url));
    await silent(`${fit} --hardware H100 --model-config-folder ${folder}`);
    expect(readProfile('steps.json').dimensions).toMatchObject({ model: { layers: 40 }, gpu: { memoryGib: 80 } });
    expect(await own()).toMatchObject({ maxModelLen: 40_960, stderr: '' });
    expect((await own()).totalKvBlocks).toBeGreaterThan(1000);
    expect((await replica()).totalKvBlocks).toBe((await own()).totalKvBlocks);
  });

  it('knows the cap of the client that measured, and when requests were planned', async () => {
    const engine = '--model qwen/qwen3-14b --latency-model trained-physics --engine-rules vllm-v1 --max-num-seqs 4';
    const lengths = '--prompt-tokens 300 --output-tokens 30 --output-tokens-stdev 5';
    // More arrives than four seats serve, which is warned about.
    expect(await twinyard(`run ${engine} --rate 100 --num-requests 60 ${lengths} --trace-output plan`)).toMatchObject({
      code: 0,
    });
    await silent(`replay ${engine} --trace plan --max-in-flight 4 --trace-output capped`);
    const text = readFileSync('capped.yaml', 'utf8').replace('mode: replayed', 'mode: real');
    writeFileSync('capped.yaml', `${text}max_in_flight: 4\n`);
    const fit =
      'calibrate --fit --trace capped --model qwen/qwen3-14b --engine-rules vllm-v1 --max-num-seqs 4 -o capped.json --held-out 0';
    const errors = async (flags: string) => {
      const { report } = JSON.parse((await twinyard(`${fit} ${flags}`)).stdout) as PrintedFit;
      return report.requests[0]!.fitted;
    };
    expect(Math.abs((await errors('')).ttft)).toBeLessThan(0.1);
    expect((await errors('--max-in-flight 0')).ttft).toBeGreaterThan(0.5);
    const { report } = JSON.parse((await twinyard(`${fit} --max-in-flight 0 --try-max-in-flight 80,4`)).stdout);
    expect(report.tried.map(({ settings }: { settings: object }) => settings)).toEqual([
      { max_in_flight: 80 },
      { max_in_flight: 4 },
    ]);
    expect(report.tried[1].loss).toBeLessThan(report.tried[0].loss);
  });

  it('takes recorded traffic, each engine by itself, from when requests were sent to it', async () => {
    traffic('traffic.jsonl', [80, 80]);
    const args = 'calibrate --fit --trace traffic.jsonl --model qwen/qwen3-14b -o recorded.json --log silent';
    const { report } = await documentOf(args);
    expect(report.data.map(({ name, used }) => [name, used])).toEqual([
      ['traffic.jsonl (engine-0)', 80],
      ['traffic.jsonl (engine-1)', 80],
    ]);
    for (const { fitted } of report.requests) expect(Math.abs(fitted.ttft)).toBeLessThan(0.2);
  });

  it('leaves out engines with too few responses', async () => {
    traffic('traffic.jsonl', [80, 7]);
    const { code, stderr, stdout } = await twinyard(
      'calibrate --fit --trace traffic.jsonl --model qwen/qwen3-14b -o recorded.json',
    );
    expect(code).toBe(0);
    expect(stderr).toContain(
      'twinyard: warning: traffic.jsonl (engine-1): left out: it has 7 responses, 60 are needed\n',
    );
    expect((JSON.parse(stdout) as PrintedFit).report.data).toHaveLength(1);
  });

  it('shows its progress on a terminal, and clears the line', () => {
    const [nothing, first, ...others] = fitted.stderr.split('\r\x1b[K');
    expect([nothing, others.at(-1)]).toEqual(['', '']);
    expect(first).toMatch(/^fitting requests, \d+ simulations, [\d.]+ unexplained$/);
  });
});

describe('invalid input of a fit is refused', () => {
  it.each([
    ['calibrate --fit -o p.json', '--trace: is required'],
    [`calibrate --fit --trace ${OBSERVED}`, '--output: is required with --fit'],
    [`${FIT} --sim-results r.json`, '--sim-results: --fit compares nothing'],
    [`${FIT} --report page.html`, '--report: --fit compares nothing'],
    [`${FIT} --e2e-mean-threshold 1`, '--e2e-mean-threshold: --fit compares nothing'],
    [`${FIT} --try-engine-rules odd`, "--try-engine-rules: 'odd' is not known"],
    [`${FIT} --try-max-num-seqs some`, "--try-max-num-seqs: 'some' is not a number"],
    [`calibrate --trace ${OBSERVED} --sim-results r.json --held-out 0.1`, '--held-out: nothing is fitted; add --fit'],
    [`calibrate --trace ${OBSERVED} --sim-results r.json --hardware H100`, '--hardware: nothing is fitted'],
    ['calibrate --fit --step-table few.csv -o p.json', '--model: is required'],
    ['calibrate --fit --step-table few.csv --model m -o p.json', '--hardware: is required'],
    ['calibrate --fit --step-table few.csv --model m --hardware g -o p.json', 'fit: 9 measured steps; give at least'],
    ['calibrate --fit --step-table none.csv --model m --hardware g -o p.json', 'none.csv: no such file'],
    ['calibrate --fit --step-table few.csv -o few.csv', "--output: would overwrite 'few.csv'"],
    ['calibrate --fit --trace few.jsonl --model qwen/qwen3-14b -o p.json', 'few.jsonl: 7 requests have both latencies'],
    [
      `calibrate --fit --trace ${OBSERVED} --trace other -o p.json`,
      '--trace: other.csv comes from hardware L40S, an earlier trace from H100; fit each of them by itself',
    ],
  ])('%s', async (args, message) => {
    stepTable('few.csv', 9);
    traffic('few.jsonl', [9]);
    const header = readFileSync(`${OBSERVED}.yaml`, 'utf8');
    writeFileSync('other.yaml', header.replace('server:\n', 'server:\n  hardware: L40S\n'));
    writeFileSync('other.csv', readFileSync(`${OBSERVED}.csv`));
    const { code, stderr, stdout } = await twinyard(`${args} --log silent`);
    expect(stderr).toContain(message);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });
});
