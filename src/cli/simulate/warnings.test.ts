import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { captured as twinyard } from '../test-io.fixture.js';

const RUN = 'run --model qwen/qwen3-14b --num-requests 20 --rate 20';
let folder: string;
let trace: string;

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-'));
  trace = join(folder, 'trace');
  expect((await twinyard(`${RUN} --trace-output ${trace}`)).code).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('warnings', () => {
  it.each([
    [
      `${RUN} --num-instances 2 --routing-policy weighted --routing-scorers prefix-affinity:1`,
      'prefix-affinity alone piles',
    ],
    [`${RUN} --flow-control --max-concurrency 5`, '--max-concurrency has no effect with --saturation-detector never'],
    [`${RUN} --slo-ttft default=1s,gold=2s`, "--slo-ttft: no request has the class 'gold'; there are: 'default'\n"],
    [
      `${RUN} --flow-control --dispatch-order slo-deadline --slo-targets critical=5`,
      "--slo-targets: no request has the class 'critical'; there are: 'standard'\n",
    ],
    [`${RUN} --moe-comm-backend allgather_reducescatter`, '--moe-comm-backend has no effect: qwen/qwen3-14b is not a'],
    [
      `${RUN} --total-kv-blocks 1`,
      'no request was completed: 20 dropped as longer than a replica can hold; raise --total-kv-blocks',
    ],
    [
      `${RUN} --admission-policy token-bucket --token-bucket-capacity 1 --token-bucket-refill-rate 0.001`,
      'no request was completed: 20 rejected by admission; choose another',
    ],
    [`${RUN} --timeout 0.00001`, 'no request was completed: 20 timed out; raise --timeout'],
    [`${RUN} --horizon 1`, 'no request was completed: 20 due after the end; raise --horizon'],
    [`${RUN} --flow-control --queue-shedding`, '--queue-shedding has no effect without --max-gateway-queue-depth'],
  ])('%s', async (args, warning) => {
    const { code, stderr } = await twinyard(args);
    expect(code).toBe(0);
    expect(stderr).toContain('twinyard: warning: ');
    expect(stderr).toContain(warning);
  });

  it('warns when no instance serves a model of the trace', async () => {
    const rows = readFileSync(`${trace}.csv`, 'utf8').trimEnd().split('\n');
    const column = rows[0]!.split(',').indexOf('model');
    const tagged = (name: string, tags: (i: number) => string) => {
      const cells = rows.map((row) => row.split(','));
      for (let i = 1; i < cells.length; i++) cells[i]![column] = tags(i);
      file(`${name}.csv`, `${cells.map((row) => row.join(',')).join('\n')}\n`);
      file(`${name}.yaml`, readFileSync(`${trace}.yaml`, 'utf8'));
      return `replay --model Qwen/Qwen3-14B --trace ${join(folder, name)}`;
    };
    const { code, stderr } = await twinyard(tagged('foreign', () => 'Qwen/Qwen3-14B'));
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^twinyard: warning: .*foreign\.csv \(model\): .* 'Qwen\/Qwen3-14B'.*'qwen\/qwen3-14b'.*\n.*no request was completed: 20 of a model that no replica serves.*\n$/,
    );
    expect((await twinyard(tagged('some', (i) => (i === 9 ? 'qwen/qwen3-14b' : 'other')))).stderr).toBe('');
  });

  it('warns of a closed loop without sessions', async () => {
    const { code, stderr } = await twinyard(
      `replay --model qwen/qwen3-14b --trace ${trace} --session-mode closed-loop`,
    );
    expect(code).toBe(0);
    expect(stderr).toMatch(/^twinyard: warning: .*\.csv \(session_id\): --session-mode closed-loop has no effect.*\n$/);
  });

  it('warns of GPUs that the step times were not fitted on', async () => {
    const gpu = { TFlopsPeak: 500, BwPeakTBs: 2, mfuPrefill: 0.4, mfuDecode: 0.2, MemoryGiB: 96 };
    const path = file('gpus.json', JSON.stringify({ X1: gpu }));
    const { code, stderr, stdout } = await twinyard(`${RUN} --hardware x1 --hardware-config ${path}`);
    expect(code).toBe(0);
    expect(stderr).toMatch(/warning: no run on X1 was measured/);
    expect(JSON.parse(stdout).config.replica).toMatchObject({ hardware: 'X1', hardwareConfig: path });
  });

  it('prints more with --log debug', async () => {
    const { stderr } = await twinyard(`${RUN} --log debug --metrics-path ${join(folder, 'log.json')}`);
    expect(stderr).toContain('info: qwen/qwen3-14b on H100, tp 1: 15909 KV blocks of 16 tokens');
    expect(stderr).toContain('debug: --metrics-path: wrote');
  });
});
