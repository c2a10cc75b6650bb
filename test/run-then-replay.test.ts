import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ResultDocument } from '../src/simulator/result-document.js';
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
  expect(stderr).toBe('');
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
