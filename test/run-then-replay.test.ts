import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ResultDocument } from '../src/simulator/result-document.js';
import type { ClientSpec, CohortSpec, LengthSpec, WorkloadSpec } from '../src/workload/spec/workload-spec.js';
import { writeWorkloadSpec } from '../src/workload/spec/write-workload-spec.js';
import { captured } from './support/test-io.js';

/** Flags that `run` and `replay` share. */
const engine = fc.record({
  'num-instances': fc.integer({ min: 1, max: 4 }),
  'routing-policy': fc.constantFrom('round-robin', 'least-loaded', 'weighted'),
  'snapshot-refresh-interval': fc.constantFrom(0, 20_000),
  'routing-latency': fc.constantFrom(0, 4000),
  'total-kv-blocks': fc.constantFrom(60, 200, 5000),
  'max-num-seqs': fc.constantFrom(4, 256),
  scheduler: fc.constantFrom('fcfs', 'sjf'),
  horizon: fc.constantFrom(null, 900_000, 100_000_000),
});

/** Flags of `run` alone: what arrives. */
const workload = fc.record({
  'num-requests': fc.integer({ min: 1, max: 60 }),
  'prompt-tokens': fc.constantFrom(64, 300),
  'output-tokens': fc.constantFrom(8, 60),
  'prefix-tokens': fc.constantFrom(0, 100),
  timeout: fc.constantFrom(-1, 0.4, 300),
  seed: fc.nat(1000),
  source: fc.constantFrom('--rate 5', '--rate 200', '--concurrency 5', '--concurrency 9 --think-time-ms 30'),
});

const flags = (values: Record<string, unknown>) =>
  Object.entries(values).flatMap(([name, value]) => (value === null ? [] : [`--${name}`, String(value)]));

async function simulated(args: string[]): Promise<ResultDocument> {
  const { code, stdout, stderr } = await captured(args);
  // Random runs may end before a request completes, or be overloaded, and are warned about.
  expect(stderr.replace(/^twinyard: warning: (no request was completed|saturated): .*\n/gm, '')).toBe('');
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

test('a run and the replay of its own trace have the same metrics', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-trace-'));
  const trace = join(folder, 'trace');
  try {
    await fc.assert(
      fc.asyncProperty(engine, workload, async (shared, { source, ...own }) => {
        const common = ['--model', 'qwen/qwen3-14b', ...flags(shared)];
        const run = await simulated(['run', ...common, ...flags(own), ...source.split(' '), '--trace-output', trace]);
        const replay = await simulated(['replay', ...common, '--trace', trace]);
        for (const key of ['cluster', 'instances', 'slo', 'sessions', 'anomalies'] as const) {
          expect(replay[key], key).toEqual(run[key]);
        }
      }),
      { numRuns: 60 },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const lengths = fc.constantFrom<LengthSpec>(
  { type: 'constant', params: { value: 40 } },
  { type: 'lognormal', params: { mu: 4, sigma: 1, max: 600 } },
  { type: 'pareto_lognormal', params: { alpha: 2, xm: 50, mu: 4, sigma: 0.5, mix_weight: 0.2, max: 800 } },
);

/** Clients and cohorts of all kinds but one: a trace does not say that a session's context grows. */
const traffic = fc.record({
  input_distribution: lengths,
  output_distribution: lengths,
  slo_class: fc.constantFrom('critical', 'batch'),
  rest: fc.constantFrom<Partial<ClientSpec & CohortSpec>>(
    { arrival: { process: 'gamma', cv: 3 }, prefix_group: 'system', prefix_length: 64, timeout: 900_000 },
    { closed_loop: false, reasoning: { multi_turn: { max_rounds: 3, think_time_us: 50_000 } }, tenant_id: 'shop' },
    { reasoning: { multi_turn: { max_rounds: 4, think_time_us: 20_000 } }, prefix_group: 'system', prefix_length: 64 },
    { concurrency: 3, think_time_us: 30_000 },
    { multimodal: { image_distribution: { type: 'constant', params: { value: 90 } } }, slo_target_us: 70_000 },
    { lifecycle: { windows: [{ start_us: 100_000, end_us: 2_000_000, trace_rate: 3 }] }, streaming: true },
    { population: 7, prefix_group: 'own', prefix_sharing: 'per_member', reasoning: { multi_turn: { max_rounds: 2 } } },
  ),
});

const specs = fc.array(traffic, { minLength: 1, maxLength: 4 }).map((all): WorkloadSpec => {
  const named = all.map(({ rest, ...common }, i) => ({ id: `t${i}`, ...common, ...rest }));
  const clients = named.filter((one) => one.population === undefined);
  const cohorts = named.filter((one) => one.population !== undefined) as CohortSpec[];
  return {
    version: '2',
    aggregate_rate: 40,
    num_requests: 60,
    ...(clients.length > 0 ? { clients } : {}),
    ...(cohorts.length > 0 ? { cohorts } : {}),
  };
});

test('a run of any specification and the replay of its own trace have the same metrics', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-trace-'));
  const trace = join(folder, 'trace');
  const path = join(folder, 'spec.yaml');
  try {
    await fc.assert(
      fc.asyncProperty(engine, specs, fc.nat(1000), async (shared, spec, seed) => {
        writeFileSync(path, writeWorkloadSpec(spec));
        const common = ['--model', 'qwen/qwen3-14b', '--log', 'error', ...flags(shared)];
        const source = ['--workload-spec', path, '--seed', String(seed), '--trace-output', trace];
        const run = await simulated(['run', ...common, ...source]);
        const replay = await simulated(['replay', ...common, '--trace', trace]);
        for (const key of ['cluster', 'instances', 'slo', 'sessions', 'fairness', 'anomalies'] as const) {
          expect(replay[key], key).toEqual(run[key]);
        }
      }),
      { numRuns: 60 },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('sessions that wait for responses do so again when their trace is replayed in a closed loop', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-trace-'));
  const trace = join(folder, 'trace');
  const path = join(folder, 'spec.yaml');
  const talk: ClientSpec = {
    id: 'talk',
    input_distribution: { type: 'lognormal', params: { mu: 5, sigma: 1, max: 2000 } },
    output_distribution: { type: 'exponential', params: { mean: 60 } },
    prefix_group: 'system',
    reasoning: { multi_turn: { max_rounds: 5, think_time_us: 250_000 } },
  };
  try {
    writeFileSync(path, writeWorkloadSpec({ version: '2', aggregate_rate: 3, num_requests: 100, clients: [talk] }));
    const engineFlags = ['--model', 'qwen/qwen3-14b', '--num-instances', '2', '--routing-policy', 'least-loaded'];
    const run = await simulated(['run', ...engineFlags, '--workload-spec', path, '--trace-output', trace]);
    const replay = await simulated(['replay', ...engineFlags, '--trace', trace, '--session-mode', 'closed-loop']);
    expect(run.cluster.completed_requests).toBe(100);
    expect(replay.cluster).toEqual(run.cluster);
    expect(replay.sessions).toEqual(run.sessions);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('users who think between requests do so again when their trace is replayed in a closed loop', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-trace-'));
  const trace = join(folder, 'trace');
  try {
    const engineFlags = ['--model', 'qwen/qwen3-14b', '--num-instances', '2', '--routing-policy', 'least-loaded'];
    const users = ['--concurrency', '5', '--think-time-ms', '100', '--num-requests', '40', '--trace-output', trace];
    const run = await simulated(['run', ...engineFlags, ...users]);
    const replay = await simulated(['replay', ...engineFlags, '--trace', trace, '--session-mode', 'closed-loop']);
    expect(replay.cluster).toEqual(run.cluster);
    expect(replay.sessions).toEqual(run.sessions);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
