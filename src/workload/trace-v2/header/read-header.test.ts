import { describe, expect, it } from 'vitest';
import type { InputError } from '../../../kernel/errors.js';
import { readPlainHeader, readTraceHeader } from './read-header.js';
import { readYamlHeader } from './yaml-header.js';

const GENERATED = `trace_version: 3
time_unit: microseconds
mode: generated
warm_up_requests: 0
workload_seed: 42
session_context_growth: accumulate
`;

const OBSERVED = `# written by hand
trace_version: 3
time_unit: us
created_at: 2026-02-17T15:54:51Z
mode: "real"
server:
  type: vllm
  model: qwen/qwen3-14b
  tensor_parallel: 1
  gpu_memory_utilization: 0.9
network: { measured_rtt_ms: 1.5 }
goodput_slo_targets:
  critical: { ttft_ms: 200, itl_ms: 25.5 }
  batch: { e2e_ms: 60000 }
kv_offload:
  tiers: [cpu, disk]
`;

async function failure(text: string): Promise<InputError> {
  return readTraceHeader(text, 't.yaml').then(
    () => expect.unreachable('the header was accepted'),
    (error) => error,
  );
}

describe('readTraceHeader', () => {
  it('reads a generated header', async () => {
    const header = await readTraceHeader(GENERATED, 't.yaml');
    expect(header).toMatchObject({ mode: 'generated', workloadSeed: 42, sessionContextGrowth: 'accumulate' });
    expect(header.place('mode')).toBe('t.yaml:3:1 (mode)');
    expect(header.place('server')).toBe('t.yaml (server)');
  });

  it('reads an observed header, with thresholds in microseconds', async () => {
    const header = await readTraceHeader(OBSERVED, 't.yaml');
    expect(header).toMatchObject({
      mode: 'real',
      sessionContextGrowth: '',
      goodputTargets: { critical: { ttftUs: 200_000, itlUs: 25_500 }, batch: { e2eUs: 60_000_000 } },
    });
    expect(header.goodputTargets.critical).not.toHaveProperty('e2eUs');
    expect(header).not.toHaveProperty('workloadSeed');
    expect(header.place('mode')).toBe('t.yaml:5:1 (mode)');
  });

  it('accepts a header without a mode', async () => {
    expect((await readTraceHeader('trace_version: 3\n', 't.yaml')).mode).toBe('');
  });

  it('takes an empty value as not given', async () => {
    expect((await readTraceHeader('mode: generated\nserver:\nworkload_spec: null\n', 't.yaml')).mode).toBe('generated');
  });

  it.each([
    [
      'an unknown key',
      'trace_version: 3\nwarmup_requests: 2\n',
      't.yaml:2:1 (warmup_requests)',
      'unknown key',
      'warm_up_requests',
    ],
    [
      'an unknown key inside',
      'server:\n  tensor_paralel: 2\n',
      't.yaml:2:3 (server.tensor_paralel)',
      'unknown key',
      "'tensor_parallel'",
    ],
    [
      'an unknown threshold',
      'goodput_slo_targets:\n  a: {ttftms: 2}\n',
      't.yaml:2:7 (goodput_slo_targets.a.ttftms)',
      'unknown key',
      "'ttft_ms'",
    ],
    ['a number that is none', 'trace_version: three\n', 't.yaml:1:16 (trace_version)', 'not a number', 'whole number'],
    ['an unknown version', 'trace_version: 99\n', 't.yaml:1:16 (trace_version)', '99 is too large', 'from 2 to 3'],
    ['a fraction', 'warm_up_requests: 1.5\n', 't.yaml:1:19 (warm_up_requests)', 'not a whole number', 'whole number'],
    [
      'a negative threshold',
      'network: {measured_rtt_ms: -1}\n',
      't.yaml:1:28 (network.measured_rtt_ms)',
      '-1 is too small',
      'at least 0',
    ],
    ['a list for a text', 'mode: [real]\n', 't.yaml:1:1 (mode)', 'not a single value', 'one of'],
    ['a text for a map', 'server: vllm\n', 't.yaml:1:9 (server)', 'not a map', 'tensor_parallel'],
    [
      'a text for thresholds',
      'goodput_slo_targets: 5\n',
      't.yaml:1:22 (goodput_slo_targets)',
      'not a map',
      'classes, each with its keys: ttft_ms',
    ],
    ['an unknown mode', 'mode: generatd\n', 't.yaml:1:7 (mode)', "unknown value 'generatd'", "'generated'"],
    ['another time unit', 'time_unit: milliseconds\n', 't.yaml:1:12 (time_unit)', 'unknown value', 'microseconds'],
    ['a key twice', 'mode: real\nmode: real\n', 't.yaml:2:1', 'unique', 'YAML'],
    ['broken YAML', 'mode: "real\n', 't.yaml:2:1', 'quote', 'YAML'],
    ['two documents', 'mode: real\n---\nmode: real\n', 't.yaml:2:1', 'second YAML document', 'one document'],
    ['a negative count', 'warm_up_requests: -1\n', 't.yaml:1:19 (warm_up_requests)', '-1 is too small', 'at least 0'],
    ['nothing', '', 't.yaml', 'no keys', 'trace_version'],
    ['a list', '- a\n', 't.yaml:1:1', 'not a map', 'trace_version'],
  ])('names the place of %s', async (_, text, place, problem, hint) => {
    const error = await failure(text);
    expect(error.code).toMatch(/^TRACE_HEADER_/);
    expect(error.place).toBe(place);
    expect(error.problem).toContain(problem);
    expect(error.hint).toContain(hint);
  });
});

describe('readPlainHeader', () => {
  it.each([
    GENERATED,
    'mode: replayed\nworkload_seed: -7\nworkload_spec: specs/a-b_c.yaml\n',
    'time_unit: us\nmode: real',
    'trace_version: 2\n',
    'session_context_growth: shrink\n',
  ])('agrees with the YAML reader', async (text) => {
    const plain = readPlainHeader(text, 't.yaml')!;
    const yaml = await readYamlHeader(text, 't.yaml');
    expect({ ...plain, place: 0 }).toEqual({ ...yaml, place: 0 });
    for (const key of ['mode', 'time_unit', 'session_context_growth', 'server']) {
      expect(plain.place(key)).toBe(yaml.place(key));
    }
  });

  it.each([
    '',
    '\n',
    'mode: generated # made\n',
    'mode: "generated"\n',
    'mode:  generated\n',
    'mode: generated\r\n',
    ' mode: generated\n',
    'mode: generated\nmode: real\n',
    'mode: generatd\n',
    'mod: generated\n',
    'workload_spec: null\n',
    'workload_spec: True\n',
    'workload_spec: a: b\n',
    'trace_version: 007\n',
    'trace_version: 1e3\n',
    'workload_seed: 12345678901234567890\n',
    'time_unit: ms\n',
    'mode: 3\n',
    'server: vllm\n',
    'goodput_slo_targets: a\n',
    'constructor: 3\n',
  ])('leaves %j to the YAML reader', (text) => {
    expect(readPlainHeader(text, 't.yaml')).toBeNull();
  });
});
