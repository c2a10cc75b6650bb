import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { InputError } from '../../../kernel/errors.js';
import { samplePath } from '../../formats/samples.fixture.js';
import { readWorkloadSpec } from '../read-workload-spec.js';
import { readInferencePerf } from './inference-perf.js';
import { isInferencePerf } from './is-inference-perf.js';

const SAMPLE = readFileSync(samplePath('inference-perf.yaml'), 'utf8');

function failure(text: string): InputError {
  try {
    readInferencePerf(text, 'p.yaml');
  } catch (error) {
    return error as InputError;
  }
  expect.unreachable('the configuration was accepted');
}

describe('readInferencePerf', () => {
  it('reads stages and shared prefixes, and ignores how to measure', () => {
    expect(readInferencePerf(SAMPLE, 'p.yaml')).toEqual({
      version: '2',
      inference_perf: {
        stages: [
          { rate: 2, duration: 30 },
          { rate: 4.5, duration: 60 },
        ],
        shared_prefix: {
          num_unique_system_prompts: 3,
          num_users_per_system_prompt: 5,
          system_prompt_len: 700,
          question_len: 60,
          output_len: 90,
          enable_multi_turn_chat: true,
        },
      },
    });
  });

  it('returns a valid specification', () => {
    const spec = readInferencePerf(SAMPLE, 'p.yaml');
    expect(readWorkloadSpec(JSON.stringify(spec), 's.yaml')).toEqual(spec);
  });

  it('reads defaults, older names, the seed and JSON', () => {
    const text = JSON.stringify({
      load: { stages: [{ rate: 1, duration: 2 }] },
      data: {
        type: 'shared_prefix',
        shared_prefix: { num_groups: 2, num_prompts_per_group: 4, seed: 7, output_len: null },
      },
    });
    const { inference_perf, seed } = readInferencePerf(text, 'p.yaml');
    expect(seed).toBe(7);
    expect(inference_perf!.shared_prefix).toEqual({
      num_unique_system_prompts: 2,
      num_users_per_system_prompt: 4,
      system_prompt_len: 100,
      question_len: 50,
      output_len: 50,
    });
    const bare = readInferencePerf('load: {stages: [{rate: 1, duration: 2}]}\ndata: {type: shared_prefix}\n', 'p.yaml');
    expect(bare.inference_perf!.shared_prefix.num_unique_system_prompts).toBe(10);
  });

  it.each([
    [
      'another kind of data',
      SAMPLE.replace('type: shared_prefix', 'type: random'),
      'p.yaml:17:9 (data.type)',
      "'random' is not read",
    ],
    ['no kind of data', SAMPLE.replace('  type: shared_prefix\n', ''), '(data.type)', 'is missing'],
    [
      'another load',
      SAMPLE.replace('type: constant', 'type: concurrent'),
      'p.yaml:2:9 (load.type)',
      "'concurrent' is not read",
    ],
    ['a sweep', SAMPLE.replace('interval: 10', 'sweep: {type: linear}'), '(load.sweep)', 'known only to the run'],
    ['no stages', SAMPLE.replace(/ {2}stages:[\s\S]*(?=api)/, ''), '(load.stages)', 'is missing'],
    [
      'an empty list of stages',
      SAMPLE.replace(/ {2}stages:[\s\S]*(?=api)/, '  stages: []\n'),
      'p.yaml:5:3 (load.stages)',
      'the list is empty',
    ],
    ['a rate of 0', SAMPLE.replace('rate: 2', 'rate: 0'), 'p.yaml:6:13 (load.stages[0].rate)', '0 is too small'],
    ['a stage without an end', SAMPLE.replace('      duration: 30\n', ''), '(load.stages[0].duration)', 'is missing'],
    [
      'a misspelt key',
      SAMPLE.replace('question_len', 'question_length'),
      'p.yaml:22:5',
      "unknown key 'question_length'",
    ],
    [
      'lengths that vary',
      SAMPLE.replace('question_len: 60', 'question_len: {mean: 60}'),
      '(data.shared_prefix.question_len)',
      'not a single value',
    ],
    [
      'lengths that vary, as they used to be written',
      SAMPLE.replace('question_len: 60', 'question_distribution: {mean: 60}'),
      'p.yaml:22:5',
      'lengths are fixed',
    ],
    ['pictures', SAMPLE.replace('question_len: 60', 'multimodal: {image: {}}'), 'p.yaml:22:5', 'is not read'],
    [
      'both names of a key',
      SAMPLE.replace('question_len: 60', 'num_groups: 4'),
      'p.yaml:22:17',
      'an older name of num_unique_system_prompts',
    ],
    [
      'part of a token',
      SAMPLE.replace('output_len: 90', 'output_len: 0.5'),
      'p.yaml:23:17',
      '0.5 is not a whole number',
    ],
    ['YAML that is none', 'load: [\n', 'p.yaml:2:1', ''],
    ['two documents', `${SAMPLE}---\n${SAMPLE}`, 'p.yaml:', 'a second YAML document'],
    ['nothing', '', 'p.yaml:1:1 (data.type)', 'is missing'],
  ])('names the place of %s', (_, text, place, problem) => {
    const error = failure(text);
    expect(error).toMatchObject({ name: 'InputError', problem: expect.stringContaining(problem) });
    expect(error.place).toContain(place);
    expect(error.hint).not.toBe('');
  });
});

describe('isInferencePerf', () => {
  it('distinguishes it from a workload specification and from other files', () => {
    expect(isInferencePerf(SAMPLE)).toBe(true);
    expect(isInferencePerf('{"load": {}, "data": {"shared_prefix": {}}}')).toBe(true);
    expect(isInferencePerf(JSON.stringify(readInferencePerf(SAMPLE, 'p.yaml')))).toBe(false);
    expect(isInferencePerf('version: "2"\nclients: []\n')).toBe(false);
  });
});
