import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { readH200Run } from './h200-run.js';
import { readH200Steps, readH200StepTable } from './h200-steps.js';
import { readNumberTable } from './number-table.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-h200-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, ...lines: string[]): string {
  const path = join(folder, name);
  const text = `${lines.join('\n')}\n`;
  writeFileSync(path, name.endsWith('.gz') ? gzipSync(text) : text);
  return path;
}

const STEPS =
  'start_us,end_us,prefill_tokens,prefill_seqs,prefill_attention_pairs,decode_seqs,decode_context_tokens,decode_context_max,kv_blocks_used';

const TABLE = 'decode_seqs,decode_context,prefill_seqs,prefill_tokens_each,prefill_context,samples,wall_us_median';

describe('steps of a run', () => {
  const steps = readH200Steps(
    file('steps.csv.gz', STEPS, '100,900,8,1,836,2,32,20,5', '1000,1500,40,3,300,2,34,21,5', '9000,9600,0,0,0,1,7,7,1'),
  );

  it('last until the next one with a request in progress', () => {
    expect(steps.map(({ us }) => us)).toEqual([900, 8000, 600]);
    const alone = file('alone.csv', STEPS, '0,10,4,1,10,0,0,0,1', '500,510,4,1,10,0,0,0,1');
    expect(readH200Steps(alone).map(({ us }) => us)).toEqual([10, 10]);
  });

  it('have contexts without their new tokens', () => {
    expect(steps[0]!.shape).toMatchObject({
      scheduled: 3,
      decodes: 2,
      decodeContext: 30,
      decodeLongest: 19,
      heldTokens: 80,
      prefills: 1,
      prefillTokens: 8,
      prefillPairs: 836,
      // 8 tokens after 100: 8 x 100 + 36 pairs.
      prefillLongest: 108,
    });
    expect(steps[1]!.shape.prefillLongest).toBeCloseTo(0.9 * Math.sqrt(600), 9);
    expect(steps[2]!.shape.prefillLongest).toBe(0);
    expect(steps.every(({ inService, count }) => inService && count === 1)).toBe(true);
  });

  it('have contexts of equal lengths where the file does not name the longest', () => {
    const [step] = readH200Steps(
      file('no-longest.csv', STEPS.replace('decode_context_max,', ''), '0,90,0,0,0,4,404,9'),
    );
    expect(step!.shape).toMatchObject({ decodes: 4, decodeContext: 400, decodeLongest: 100, heldTokens: 144 });
  });

  it("have the host's part of their time, where the file has that of the GPU", () => {
    expect(steps.every((step) => !('hostUs' in step))).toBe(true);
    // Both times of the last one are rounded.
    const timed = file('timed.csv', `${STEPS},gpu_us`, '0,90,0,0,0,1,7,7,1,70', '100,190,0,0,0,1,8,8,1,91');
    expect(readH200Steps(timed).map(({ us, hostUs }) => [us, hostUs])).toEqual([
      [100, 30],
      [90, 0],
    ]);
  });

  it('have the idle time of the GPU before them', () => {
    expect(steps.map(({ restUs }) => restUs)).toEqual([Number.POSITIVE_INFINITY, 0, 0]);
    const idle = file('idle.csv', STEPS, '0,10,4,1,10,0,0,0,1', '500,510,4,1,10,0,0,0,1', '505,520,4,1,10,0,0,0,1');
    expect(readH200Steps(idle).map(({ restUs }) => restUs)).toEqual([Number.POSITIVE_INFINITY, 490, 0]);
  });

  it('mark the first of each size with prompts', () => {
    const sizes = ['8,1,836,2,32', '0,0,0,10,99', '6,2,9,4,40', '6,1,9,5,40'].map(
      (shape, i) => `${i},${i + 1},${shape},9,5`,
    );
    expect(readH200Steps(file('sizes.csv', STEPS, ...sizes)).map(({ firstOfSize }) => firstOfSize)).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });
});

describe('the table of steps', () => {
  it('has equal contexts, no host, and the number of its measurements', () => {
    const [mixed, alone] = readH200StepTable(file('table.csv', TABLE, '4,512,2,64,1024,7,8000.5', '0,0,1,16,0,7,5000'));
    expect(mixed).toMatchObject({
      us: 8000.5,
      count: 7,
      inService: false,
      firstOfSize: false,
      shape: { scheduled: 6, decodeContext: 2048, decodeLongest: 512, prefillTokens: 128, prefillLongest: 1088 },
    });
    expect(mixed!.shape.prefillPairs).toBe(2 * (64 * 1024 + (64 * 65) / 2));
    expect(alone!.shape).toMatchObject({ decodes: 0, decodeLongest: 0, heldTokens: 16 });
    const onGpu = file('gpu.csv', `${TABLE},gpu_us_median`, '4,512,2,64,1024,7,8000.5,7900.25');
    expect(readH200StepTable(onGpu)[0]!.us).toBe(7900.25);
  });
});

describe('requests of a run', () => {
  it('have latencies from their arrival on, and prefixes by group', () => {
    const run = readH200Run(
      'r',
      file(
        'requests.csv',
        'request_id,arrival_us,input_tokens,output_tokens,prefix_group,prefix_length,cached_tokens,first_token_us,last_token_us,preemptions',
        '0,100,50,4,-1,0,0,150,300,2',
        '1,200,60,5,3,32,32,260,500,0',
      ),
      1719,
    );
    expect([[...run.ttftUs], [...run.e2eUs], run.preemptions]).toEqual([[50, 60], [200, 300], 2]);
    expect([...run.cachedTokens]).toEqual([0, 32]);
    expect(run.engine).toMatchObject({ totalKvBlocks: 1719, maxNumSeqs: 256, engineRules: 'vllm-v1' });
    const { table } = run;
    expect([table.prefixGroup[0], table.prefixTokens[table.prefixGroup[1]!]]).toEqual([0, 32]);
  });
});

describe('a file that is not what it should be', () => {
  it.each([
    ['TRUTH_NOT_READABLE', () => join(folder, 'nowhere.csv'), /nowhere\.csv: cannot be read \(no such file\)/],
    [
      'TRUTH_NOT_READABLE',
      () => file('plain.gz.csv', 'a').replace('plain.gz.csv', ''),
      /cannot be read \(is a folder\)/,
    ],
    ['TRUTH_MISSING_COLUMN', () => file('other.csv', 'b,c', '1,2'), /other\.csv:1: there is no column 'a'/],
    ['TRUTH_NOT_A_NUMBER', () => file('words.csv', 'a', '1', 'x'), /words\.csv:3 \(a\): 'x' is not a number/],
    ['TRUTH_NOT_A_NUMBER', () => file('short.csv', 'b,a', '1,2', '3'), /short\.csv:3 \(a\): '' is not a number/],
  ])('is refused: %s (%#)', (code, path, message) => {
    const given = path();
    expect(() => readNumberTable(given, ['a'])).toThrow(expect.objectContaining({ name: 'InputError', code }));
    expect(() => readNumberTable(given, ['a'])).toThrow(message);
  });

  it.each([
    ['TRUTH_NO_STEP_TIME', '7,7,0,0,0,1,7,7,1,5', /:2 \(end_us\): the step takes 0 us; give steps in order of time/],
    ['TRUTH_BAD_GPU_TIME', '0,90,0,0,0,1,7,7,1,-5', /:2 \(gpu_us\): -5 us on the GPU in a step of 90 us; give/],
    ['TRUTH_BAD_GPU_TIME', '0,90,0,0,0,1,7,7,1,0', /:2 \(gpu_us\): 0 us on the GPU/],
    ['TRUTH_BAD_GPU_TIME', '0,90,0,0,0,1,7,7,1,92', /92 us on the GPU in a step of 90 us.*leave the column out/],
  ])('is refused for times of a run that cannot be: %s (%#)', (code, row, message) => {
    const path = file('times.csv', `${STEPS},gpu_us`, row);
    expect(() => readH200Steps(path)).toThrow(expect.objectContaining({ name: 'InputError', code }));
    expect(() => readH200Steps(path)).toThrow(message);
  });

  it.each([
    ['TRUTH_NO_STEP_TIME', '-8,7', /:2 \(wall_us_median\): the step takes -8 us/],
    ['TRUTH_BAD_GPU_TIME', '8000,0', /:2 \(gpu_us_median\): 0 us on the GPU/],
    ['TRUTH_BAD_GPU_TIME', '8000,8e6', /:2 \(gpu_us_median\): 8000000 us on the GPU in a step of 8000 us/],
  ])('is refused for times of a table that cannot be: %s (%#)', (code, times, message) => {
    const path = file('table-times.csv', `${TABLE},gpu_us_median`, `4,512,0,0,0,7,${times}`);
    expect(() => readH200StepTable(path)).toThrow(expect.objectContaining({ name: 'InputError', code }));
    expect(() => readH200StepTable(path)).toThrow(message);
  });

  it('is refused when it only claims to be gzipped', () => {
    const path = join(folder, 'fake.csv.gz');
    writeFileSync(path, 'a\n1\n');
    expect(() => readNumberTable(path, ['a'])).toThrow(expect.objectContaining({ code: 'TRUTH_NOT_READABLE' }));
  });
});
