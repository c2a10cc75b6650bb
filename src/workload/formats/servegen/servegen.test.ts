import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InputError } from '../../../kernel/errors.js';
import { readWorkloadSpec } from '../../spec/read-workload-spec.js';
import { isServeGen, readServeGen } from './servegen.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'servegen-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const LENGTHS = { '0': { input_tokens: '{100: 1.0}', output_tokens: '{10: 0.5, 1000: 0.5}' } };

function chunk(id: number | string, rows: readonly string[], dataset: object | string = LENGTHS): void {
  writeFileSync(join(folder, `chunk-${id}-trace.csv`), `${rows.join('\n')}\n`);
  writeFileSync(
    join(folder, `chunk-${id}-dataset.json`),
    typeof dataset === 'string' ? dataset : JSON.stringify(dataset),
  );
}

function failure(): InputError {
  try {
    readServeGen(folder);
  } catch (error) {
    return error as InputError;
  }
  expect.unreachable('the folder was accepted');
}

describe('readServeGen', () => {
  it('creates a cohort for every period and class that has a client', () => {
    for (let id = 0; id < 7; id++) chunk(id, ['0,1,2,Gamma,0.25,4', '28800,0.5,1,,0,0', '50400,0,0,,0,0']);
    const spec = readServeGen(folder);
    expect(spec).toMatchObject({ version: '2', seed: 42, category: 'language', aggregate_rate: 0 });
    const names = ['critical', 'standard', 'batch', 'sheddable', 'background'];
    expect(spec.cohorts!.map(({ id }) => id)).toEqual(
      ['midnight', 'morning'].flatMap((time) => names.map((name) => `${time}-${name}`)),
    );
    expect(spec.cohorts!.map(({ population }) => population)).toEqual([2, 2, 1, 1, 1, 2, 2, 1, 1, 1]);
    expect(spec.cohorts![0]).toEqual({
      id: 'midnight-critical',
      population: 2,
      slo_class: 'critical',
      arrival: { process: 'gamma', cv: 2 },
      input_distribution: { type: 'lognormal', params: { mu: Math.log(100), sigma: 0 } },
      output_distribution: {
        type: 'lognormal',
        params: { mu: expect.closeTo(Math.log(100), 12), sigma: expect.closeTo(Math.log(10), 12) },
      },
      streaming: true,
      spike: { start_time_us: 0, duration_us: 600_000_000, trace_rate: 2 },
    });
    expect(spec.cohorts![5]).toMatchObject({
      arrival: { process: 'poisson' },
      spike: { start_time_us: 780_000_000, trace_rate: 1 },
    });
  });

  it('creates a valid specification, the same each time', () => {
    for (let id = 0; id < 3; id++) chunk(id, ['600,1.5,3,Weibull,0.5,1', '51000,0.25,0.7,Gamma,2,2']);
    const spec = readServeGen(folder);
    expect(readServeGen(folder)).toEqual(spec);
    expect(readWorkloadSpec(JSON.stringify(spec), 's.yaml')).toEqual(spec);
  });

  it('takes the time of a period at which most clients are active, the earliest of several', () => {
    chunk(1, ['0,5,1,,0,0', '600,1,1,,0,0', '1200,1,1,,0,0']);
    chunk(2, ['0,0,0,,0,0', '600,2,1,,0,0', '1200,2,1,,0,0', '1800,9,1,,0,0']);
    expect(readServeGen(folder).cohorts!.map(({ spike }) => spike!.trace_rate)).toEqual([1, 2]);
  });

  it('averages rates over the days, days without requests included, and deals clients out by their numbers', () => {
    chunk(10, ['0,4,1,,0,0', '86400,0,0,,0,0']);
    chunk(9, ['0,1,1,,0,0', '86400,3,1,,0,0']);
    expect(readServeGen(folder).cohorts!.map(({ id, spike }) => [id, spike!.trace_rate])).toEqual([
      ['midnight-critical', 2],
      ['midnight-standard', 2],
    ]);
  });

  it('weighs lengths and patterns by rate, with the lengths of the last time before, on all days', () => {
    const dataset = (length: number) => ({
      '0': { input_tokens: '{7: 1.0}', output_tokens: '{7: 1.0}' },
      '21600': { input_tokens: `{${length}: 2.0, 0: 2.0}`, output_tokens: '{4: 1.0}' },
      '43200': { input_tokens: '{}', output_tokens: '{}' },
      '108000': { input_tokens: `{${length}: 1.0,}`, output_tokens: '{16: 1.0}' },
    });
    for (const id of [0, 1, 2, 3, 4]) chunk(id, ['28800,3,2,Weibull'], dataset(100));
    chunk(5, ['28800,1,5,Gamma'], dataset(10_000));
    const [first] = readServeGen(folder).cohorts!;
    const mu = first!.input_distribution!.params!.mu!;
    // Half of the lengths of the first day are 0 and do not count.
    expect(mu).toBeCloseTo(Math.log(100) + 0.25 * Math.log(100), 12);
    expect(first!.output_distribution!.params!.mu).toBeCloseTo(Math.log(8), 12);
    expect(first!.arrival).toEqual({ process: 'weibull', cv: 2 });
  });

  it('keeps the variation within what the process can have', () => {
    chunk(0, ['0,1,5000,Gamma,1,1']);
    expect(readServeGen(folder).cohorts![0]!.arrival).toEqual({ process: 'gamma', cv: 100 });
    chunk(0, ['0,1,0,Gamma,1,1']);
    expect(readServeGen(folder).cohorts![0]!.arrival).toEqual({ process: 'poisson' });
  });

  it('creates one set of cohorts from reasoning data, with the share of reasoning in percent', () => {
    const dataset = { '0': { ...LENGTHS['0'], reason_ratio: '{"0.24": 0.5, "0.244": 0.25, 0.6: 0.25}' } };
    chunk(0, ['0,1,1,,0,0', '40000,2,1,,0,0'], dataset);
    chunk(1, ['40000,3,1,,0,0'], dataset);
    const spec = readServeGen(folder);
    expect(spec.category).toBe('reasoning');
    expect(spec.cohorts!.map(({ id, spike }) => [id, spike!.trace_rate])).toEqual([
      ['reasoning-critical', 2],
      ['reasoning-standard', 3],
    ]);
    expect(spec.cohorts![0]!.reasoning!.reason_ratio_distribution).toEqual({
      type: 'empirical',
      params: { 24: 0.75, 60: 0.25 },
    });
    expect(() => readWorkloadSpec(JSON.stringify(spec), 's.yaml')).not.toThrow();
  });

  it.each<[string, () => void, string, string]>([
    ['an empty folder', () => {}, '', 'has no chunk-*-trace.csv'],
    [
      'clients that are idle',
      () => chunk(0, ['0,0,0,,0,0', '7200,1,1,,0,0']),
      '',
      'no client is active in the half hours',
    ],
    ['a row too short', () => chunk(0, ['0,1,1']), '/chunk-0-trace.csv:1:1', 'the row has 3 columns'],
    ['a shape without a scale', () => chunk(0, ['0,1,1,Gamma,2']), '/chunk-0-trace.csv:1:1', 'the row has 5 columns'],
    ['a rate below 0', () => chunk(0, ['0,1,1,', '600,-1,1,']), '/chunk-0-trace.csv:2:5 (rate)', '-1 is negative'],
    ['a word for a start', () => chunk(0, ['noon,1,1,']), '/chunk-0-trace.csv:1:1 (start)', "'noon' is not a number"],
    ['an empty variation', () => chunk(0, ['0,1,,']), '/chunk-0-trace.csv:1:5 (cv)', 'an empty field is not a number'],
    [
      'an unknown pattern',
      () => chunk(0, ['0,1,1,Pareto']),
      '/chunk-0-trace.csv:1:7 (pattern)',
      "unknown pattern 'Pareto'",
    ],
    ['lengths that are not JSON', () => chunk(0, ['0,1,1,'], '{\n"0": x}'), '/chunk-0-dataset.json:', 'is not JSON'],
    ['a list of lengths', () => chunk(0, ['0,1,1,'], '[]'), '/chunk-0-dataset.json', 'is not a JSON object'],
    ['a start that is none', () => chunk(0, ['0,1,1,'], { noon: {} }), '/chunk-0-dataset.json (noon)', 'not a start'],
    [
      'lengths that are not text',
      () => chunk(0, ['0,1,1,'], { 0: { input_tokens: 5 } }),
      '(0.input_tokens)',
      'is not a text',
    ],
    [
      'lengths without braces',
      () => chunk(0, ['0,1,1,'], { 0: { input_tokens: '5: 1' } }),
      '(0.input_tokens)',
      'not in braces',
    ],
    [
      'a length without a share',
      () => chunk(0, ['0,1,1,'], { 0: { input_tokens: '{5: 1, 6}' } }),
      '(0.input_tokens)',
      "'6' is not a length",
    ],
    [
      'a share below 0',
      () => chunk(0, ['0,1,1,'], { 0: { input_tokens: '{5: -1}' } }),
      '(0.input_tokens)',
      "'5: -1' is not",
    ],
    [
      'no lengths for the time',
      () => chunk(0, ['0,1,1,'], { 600: LENGTHS['0'] }),
      '/chunk-0-dataset.json',
      'no lengths are known for 0 s',
    ],
    [
      'lengths of 0 alone',
      () => chunk(0, ['0,1,1,'], { 0: { input_tokens: '{0: 1}', output_tokens: '{0: 0}' } }),
      '',
      'no lengths',
    ],
  ])('names the place of %s', (_, prepare, place, problem) => {
    prepare();
    const error = failure();
    expect(error).toMatchObject({ name: 'InputError', problem: expect.stringContaining(problem) });
    expect(error.place).toContain(`${folder}`);
    expect(error.place).toContain(place);
    expect(error.hint).not.toBe('');
  });

  it('reports a client without any lengths', () => {
    chunk(0, ['0,1,1,']);
    rmSync(join(folder, 'chunk-0-dataset.json'));
    expect(failure()).toMatchObject({ code: 'FILE_UNREADABLE', problem: 'no such file' });
  });
});

describe('isServeGen', () => {
  it('looks for the files of a client', () => {
    expect(isServeGen(folder)).toBe(false);
    expect(isServeGen(join(folder, 'missing'))).toBe(false);
    chunk(0, []);
    expect(isServeGen(folder)).toBe(true);
    expect(isServeGen(join(folder, 'chunk-0-trace.csv'))).toBe(false);
  });
});
