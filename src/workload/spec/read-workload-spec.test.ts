import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { presetSpec, WORKLOADS } from '../generate/presets.js';
import { readWorkloadSpec, readWorkloadSpecFile } from './read-workload-spec.js';
import type { WorkloadSpec } from './workload-spec.js';
import { writeWorkloadSpec } from './write-workload-spec.js';

const LENGTHS = `input_distribution: { type: constant, params: { value: 8 } }, output_distribution: { type: constant, params: { value: 9 } }`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'workload-spec-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const read = (text: string) => readWorkloadSpec(text, join(folder, 'spec.yaml'));

describe('readWorkloadSpec', () => {
  it('returns the document as written', () => {
    expect(
      read(`version: "2"\nseed: 7\naggregate_rate: 2.5\nclients: [{ id: a, streaming: true, ${LENGTHS} }]\n`),
    ).toEqual({
      version: '2',
      seed: 7,
      aggregate_rate: 2.5,
      clients: [
        {
          id: 'a',
          streaming: true,
          input_distribution: { type: 'constant', params: { value: 8 } },
          output_distribution: { type: 'constant', params: { value: 9 } },
        },
      ],
    });
  });

  it('accepts an unquoted version, names that look like numbers, and keys without a value', () => {
    const spec = read(
      `version: 2\naggregate_rate: 1\ncohorts:\nclients: [{ id: 007, tenant_id: "", model: null, ${LENGTHS} }]`,
    );
    expect(spec.version).toBe('2');
    expect(spec).not.toHaveProperty('cohorts');
    expect(Object.keys(spec.clients![0]!)).toEqual(['id', 'input_distribution', 'output_distribution']);
    expect(spec.clients![0]!.id).toBe('007');
  });

  it('takes anchors and aliases', () => {
    const { clients } = read(`version: "2"
aggregate_rate: 1
clients:
  - { id: a, input_distribution: &short { type: constant, params: { value: 3 } }, output_distribution: *short }
  - { id: b, input_distribution: *short, output_distribution: { type: constant, params: { value: 4 } } }
`);
    expect(clients!.map(({ input_distribution }) => input_distribution!.params!.value)).toEqual([3, 3]);
    expect(clients![0]!.output_distribution).not.toBe(clients![0]!.input_distribution);
    expect(() => read('version: "2"\nclients: *nobody\n')).toThrow("spec.yaml:2:10: there is no anchor for '*nobody'");
  });

  it.each(['version: "1"\n', 'version: ""\n', ''])('brings version %j up to date', (version) => {
    const spec = read(`${version}aggregate_rate: 1
clients: [{ id: a, slo_class: realtime, ${LENGTHS} }, { id: b, slo_class: interactive, ${LENGTHS} }, { id: c, slo_class: batch, ${LENGTHS} }]
goodput_slo_targets: { realtime: { ttft_ms: 5 } }
`);
    expect(spec.version).toBe('2');
    expect(spec.clients!.map(({ slo_class }) => slo_class)).toEqual(['critical', 'standard', 'batch']);
    expect(spec.goodput_slo_targets).toEqual({ critical: { ttft_ms: 5 } });
  });

  it('explains what to write for an empty file', () => {
    expect(() => read('# nothing\n')).toThrow('spec.yaml: holds no keys; start it with version: "2", then clients');
    expect(() => read('- a\n')).toThrow('spec.yaml:1:1: is not a map');
  });

  it('lets a rate be given from outside, before the rules are checked', () => {
    const text = `version: "2"\nclients: [{ id: a, ${LENGTHS} }]`;
    expect(() => read(text)).toThrow('without an aggregate_rate');
    expect(readWorkloadSpec(text, 'spec.yaml', { aggregateRate: 3 }).aggregate_rate).toBe(3);
  });

  it('reads files, gzipped ones too', async () => {
    const path = join(folder, 'packed.yaml');
    writeFileSync(path, gzipSync(`version: "2"\naggregate_rate: 1\nclients: [{ id: a, ${LENGTHS} }]`));
    expect((await readWorkloadSpecFile(path)).clients).toHaveLength(1);
    await expect(readWorkloadSpecFile(join(folder, 'none.yaml'))).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });
});

describe('lengths from a file', () => {
  const withFile = (name: string) =>
    read(`version: "2"
aggregate_rate: 1
clients:
  - id: a
    input_distribution: { type: empirical, file: ${name} }
    output_distribution: { type: constant, params: { value: 9 } }
`).clients![0]!.input_distribution;

  it.each([
    ['a list of lengths', 'a.csv', '10\n20\n20\n\n40\n', { 10: 1, 20: 2, 40: 1 }],
    ['lengths with shares below names', 'b.csv', 'length,probability\r\n5, 0.25\r\n7, 0.75\r\n', { 5: 0.25, 7: 0.75 }],
    ['JSON lengths', 'c.json', '[3, 3, 9]', { 3: 2, 9: 1 }],
    ['JSON pairs', 'd.json', '[[3, 0.5], [9, 0.5]]', { 3: 0.5, 9: 0.5 }],
    ['a JSON object', 'e.json', ' {"3": 1, "9": 0}', { 3: 1, 9: 0 }],
  ])('reads %s', (_, name, text, params) => {
    writeFileSync(join(folder, name), text);
    expect(withFile(name)).toEqual({ type: 'empirical', params });
    writeFileSync(join(folder, `${name}.gz`), gzipSync(text));
    expect(withFile(`${name}.gz`)).toEqual({ type: 'empirical', params });
    expect(withFile(join(folder, name))).toEqual({ type: 'empirical', params });
  });

  it.each([
    ['no lengths', 'tokens\n', ': holds no lengths'],
    ['only shares of 0', '5,0\n', ': holds no lengths'],
    ['a word', '5\nsix\n', ":2:1: 'six' is not a length"],
    ['half a token', '5\n6.5\n', ':2:1: 6.5 is not a length; give whole numbers from 1 to 2147483647'],
    ['a share that is none', '5,much\n', ":1:3: 'much' is not a share"],
    ['a negative share', '5,-1\n', ':1:1: -1 is not a share'],
    ['three columns', '1,2,3\n', ':1:1: 3 columns; give a length, or length,share'],
    ['broken JSON', '[1, 2', ': is not JSON'],
    ['JSON of something else', '["a"]', ' (entry 1): "a" is not a length'],
    ['JSON with a length of 0', '{"0": 1}', ' (entry 1): 0 is not a length'],
  ])('refuses %s', (_, text, message) => {
    const path = join(folder, 'bad.csv');
    writeFileSync(path, text);
    expect(() => withFile('bad.csv')).toThrow(`${path}${message}`);
  });

  it('reports a gzipped file that is cut off', () => {
    writeFileSync(join(folder, 'cut.gz'), gzipSync('1\n'.repeat(5000)).subarray(0, 30));
    expect(() => withFile('cut.gz')).toThrow(expect.objectContaining({ code: 'FILE_DAMAGED' }));
  });
});

describe('writeWorkloadSpec', () => {
  const everything: WorkloadSpec = {
    goodput_slo_targets: { 'a: b': { e2e_ms: 1e-7 }, critical: { ttft_ms: 200, itl_ms: 12.5 } },
    version: '2',
    num_requests: 10,
    horizon: 1e15,
    category: 'multimodal',
    seed: 0,
    cohorts: [
      {
        population: 3,
        id: '12',
        slo_class: 'true',
        input_distribution: { type: 'empirical', params: { 10: 0.1, 9: 0.9 } },
        output_distribution: { type: 'lognormal', params: { mu: -0.5, sigma: 0.25, max: 4000 } },
        spike: { duration_us: 5, start_time_us: 0, trace_rate: 0.5 },
        prefix_group: '- x',
        prefix_sharing: 'per_member',
        reasoning: { multi_turn: { max_rounds: 2, context_growth: '', think_time_us: 0 } },
      },
    ],
    clients: [
      {
        id: 'users # 1',
        slo_class: 'critical',
        concurrency: 3,
        network: { rtt_ms: 0.5 },
        output_distribution: { type: 'constant', params: { value: 1 } },
        multimodal: { image_distribution: { type: 'exponential', params: { mean: 3 } } },
        lifecycle: { windows: [{ start_us: 0, end_us: 5 }] },
        timeout: 0,
      },
    ],
  };

  it('reads back as the same specification', () => {
    const text = writeWorkloadSpec(everything);
    expect(readWorkloadSpec(text, 'spec.yaml')).toEqual(everything);
    expect(writeWorkloadSpec(readWorkloadSpec(text, 'spec.yaml'))).toBe(text);
  });

  it.each(WORKLOADS)('prints %s so that it can be edited and run', (name) => {
    const spec = presetSpec(name);
    expect(readWorkloadSpec(writeWorkloadSpec(spec), 'spec.yaml')).toEqual(spec);
  });

  it('puts keys in the order of the documentation and short maps on one line', () => {
    expect(writeWorkloadSpec(presetSpec('chatbot'))).toBe(`version: "2"
category: language
clients:
  - id: chatbot
    rate_fraction: 1
    arrival: { process: constant }
    input_distribution: { type: gaussian, params: { mean: 256, std_dev: 100, min: 2, max: 800 } }
    output_distribution: { type: gaussian, params: { mean: 256, std_dev: 100, min: 1, max: 1024 } }
    timeout: 300000000
aggregate_rate: 1
num_requests: 100
`);
  });
});
