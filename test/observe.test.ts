import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunningEngine } from '../src/emulator/start-engine.js';
import { TOY_OPTIONS } from '../src/observe/drive/fake-server.fixture.js';
import type { Observation, ObserveOptions, ObservePlan } from '../src/observe/drive/observation.js';
import { observe } from '../src/observe/drive/observe.js';
import { fakeConfig, fakeLatency } from '../src/replica/fake-replica.fixture.js';
import { fakeCluster } from '../src/simulator/fake-cluster.fixture.js';
import { simulate } from '../src/simulator/simulate.js';
import { generateSpecWorkload } from '../src/workload/generate/generate-spec-workload.js';
import { PromptBlocks } from '../src/workload/prompt-blocks.js';
import { RequestTable } from '../src/workload/request-table.js';
import type { WorkloadSpec } from '../src/workload/spec/workload-spec.js';
import type { Trace } from '../src/workload/trace.js';
import { readTraceV2 } from '../src/workload/trace-v2/read-trace.js';
import { writeTrace } from '../src/workload/trace-v2/write.js';
import type { Workload } from '../src/workload/workload.js';
import { fakeEngine } from './support/engine-fixture.js';

const ROOMY = { totalKvBlocks: 5000, maxNumSeqs: 64, maxNumBatchedTokens: 2048 };
const LATENCY = { queueingUs: 100, outputTokenUs: 1, postDecodeUs: 5 };
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-observe-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const roomyEngine = () => fakeEngine({ config: fakeConfig(ROOMY), latency: fakeLatency(LATENCY) });

function planOf(workload: Workload): ObservePlan {
  return { workload, horizonUs: null, urgency: () => 1 };
}

function observed(engine: RunningEngine, plan: ObservePlan, options: Partial<ObserveOptions> = {}) {
  return observe(plan, { url: engine.url, model: 'tiny' }, { ...TOY_OPTIONS, ...options });
}

/** What is read of an observation that was written. */
async function reread({ epochUs, facts, trace }: Observation): Promise<Trace> {
  const { data, header } = writeTrace(trace!, facts, epochUs);
  writeFileSync(join(folder, 't.yaml'), header);
  writeFileSync(join(folder, 't.csv'), [...data].join(''));
  return readTraceV2(join(folder, 't.yaml'), join(folder, 't.csv'));
}

/** The share of prompt tokens that the simulator finds in the cache when the trace is replayed on the same replica. */
function simulatedHits({ table }: Trace): number {
  const config = fakeCluster({ instances: 1 }, ROOMY);
  return simulate(config, { table }, fakeLatency(LATENCY)).document.cluster.prompt_cache_hit_rate;
}

function measuredHits({ document }: Observation): number {
  return document.total_cached_tokens / document.total_input_tokens;
}

function spec(client: object, more: object = {}): WorkloadSpec {
  const constant = (value: number) => ({ type: 'constant', params: { value } });
  const lengths = { input_distribution: constant(37), output_distribution: constant(5) };
  const arrival = { process: 'constant' };
  return { version: '2', clients: [{ id: 'c', arrival, ...lengths, ...client }], ...more } as WorkloadSpec;
}

const FORMATS: Partial<ObserveOptions>[] = [
  { apiFormat: 'completions' },
  { apiFormat: 'chat' },
  { apiFormat: 'completions', streaming: false },
  { apiFormat: 'chat', streaming: false },
];

describe('an emulated engine, observed', () => {
  test.each(FORMATS)('gets prompts as long as planned and with the shared beginning: %j', async (options) => {
    const engine = await roomyEngine();
    const client = { rate_fraction: 1, prefix_group: 'g', prefix_length: 64 };
    const workload = generateSpecWorkload(spec(client, { aggregate_rate: 2000, num_requests: 20 }), { seed: 7 });
    const seen = await observed(engine, planOf(workload), { ...options, maxConcurrency: 1 });
    // Every session begins with the same block, which calibration has left in the cache.
    const head = options.apiFormat === 'chat' ? 4 : 0;
    expect(seen.document).toMatchObject({
      requests: { completed: 20, problems: {} },
      prompts: { counted_by: 'tokenize', difference: { compared: 20, exact: 20 } },
      total_input_tokens: 20 * 101,
      // One after the other: all but the first find the whole prefix.
      total_cached_tokens: 19 * 64 + head,
    });
    expect(simulatedHits(await reread(seen))).toBeCloseTo(measuredHits(seen) - head / 2020, 12);
  });

  test.each(FORMATS)('hits the cached context of a growing session, as the simulator does: %j', async (options) => {
    const engine = await roomyEngine();
    const chat = { max_rounds: 4, think_time_us: 1000, context_growth: 'accumulate' };
    const client = { rate_fraction: 1, reasoning: { multi_turn: chat }, prefix_group: 'g', prefix_length: 40 };
    const workload = generateSpecWorkload(spec(client, { aggregate_rate: 500, num_requests: 12 }), { seed: 7 });
    const seen = await observed(engine, planOf(workload), { ...options, maxConcurrency: 1 });
    expect(seen.document.requests).toMatchObject({ completed: 12, problems: {} });
    expect(seen.document.prompts.difference).toMatchObject({ compared: 12, exact: 12 });
    const trace = await reread(seen);
    expect(trace.header.sessionContextGrowth).toBe('included');
    // Chat templates put a few tokens between the turns: the response is hit, what follows is not.
    const isChat = options.apiFormat === 'chat';
    expect(Math.abs(simulatedHits(trace) - measuredHits(seen))).toBeLessThan(isChat ? 0.02 : 1e-12);
    expect(measuredHits(seen)).toBeGreaterThan(0.6);
  });

  test('gets the blocks of recorded prompts', async () => {
    const engine = await roomyEngine();
    const table = new RequestTable();
    table.blocks = new PromptBlocks(32);
    for (const [row, blocks] of [[1, 2, 3], [1, 2, 4], [1, 5], [1, 2, 3], []].entries()) {
      table.append();
      table.arrivalUs[row] = row * 1000;
      table.inputTokens[row] = 90;
      table.outputTokens[row] = 4;
      for (const id of blocks) table.blocks.add(id);
      table.blocks.endRow(row);
    }
    const seen = await observed(engine, planOf({ table }), { maxConcurrency: 1 });
    expect([...seen.trace!.observed!.cachedTokens]).toEqual([0, 64, 32, 88, 0]);
    const trace = await reread(seen);
    expect(trace.table.blocks!.blockTokens).toBe(32);
    expect(simulatedHits(trace)).toBeCloseTo(measuredHits(seen), 12);
  });

  test('keeps the requested number of users busy', async () => {
    const engine = await roomyEngine();
    const workload = generateSpecWorkload(spec({ concurrency: 3 }, { num_requests: 15 }), { seed: 7 });
    const seen = await observed(engine, { ...planOf(workload), expected: 15 }, { warmUpRequests: 3 });
    expect(seen.document.requests).toMatchObject({ planned: 15, sent: 15, recorded: 12, completed: 12 });
    const { table } = await reread(seen);
    const ids = Array.from({ length: 12 }, (_, row) => row + table.idShift[row]!);
    expect(ids.sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, i) => i + 3));
    // Turns of the warm-up are left out, the rest is renumbered.
    expect(new Set(table.session.subarray(0, 12)).size).toBe(3);
    expect(Math.max(...table.round.subarray(0, 12))).toBeLessThan(12);
  });

  test('is written and read again as it was', async () => {
    const engine = await roomyEngine();
    const workload = generateSpecWorkload(
      spec({ rate_fraction: 1, slo_class: 'batch', tenant_id: 't' }, { aggregate_rate: 1000, num_requests: 8 }),
      { seed: 7, timeoutUs: 9e6 },
    );
    const server = { url: engine.url, model: 'tiny', settings: { hardware: 'H100', tensorParallel: 2 } };
    const seen = await observe(planOf(workload), server, { ...TOY_OPTIONS, warmUpRequests: 1, rttMs: 0.25 });
    const trace = await reread(seen);
    const { observed: was, table: before } = seen.trace!;
    expect(trace.header).toMatchObject({
      mode: 'real',
      ...{ warmUpRequests: 1, rttMs: 0.25 },
      server: {
        ...server.settings,
        type: 'vllm',
        model: 'tiny',
        blockSize: 4,
        totalKvBlocks: 5000,
        maxModelLen: 20000,
      },
    });
    const gap = before.arrivalUs[0]! - trace.table.arrivalUs[0]!;
    expect(gap).toBeGreaterThanOrEqual(0);
    for (let row = 0; row < 7; row++) {
      expect(before.arrivalUs[row]! - trace.table.arrivalUs[row]!).toBe(gap);
      expect(trace.table.deadlineUs[row]! - trace.table.arrivalUs[row]!).toBe(9e6);
      expect(trace.table.inputTokens[row]).toBe(37);
    }
    const { message, xRequestId, ...sent } = was!.sent!;
    expect(trace.observed).toEqual({
      ...was,
      sent: { ...trace.observed!.sent, ...sent, priority: trace.observed!.sent!.priority },
    });
    expect([message[0], xRequestId[0]!.endsWith('-request_1')]).toEqual(['', true]);
  });

  test('that fails now and then is measured all the same', async () => {
    const engine = await roomyEngine();
    engine.faults({ failRate: 0.2, disconnectRate: 0.2 });
    const workload = generateSpecWorkload(spec({ rate_fraction: 1 }, { aggregate_rate: 2000, num_requests: 60 }), {
      seed: 7,
    });
    const { document, trace } = await observed(engine, planOf(workload));
    const { completed, failed, problems } = document.requests;
    expect(completed + failed).toBe(60);
    expect(problems.http_500! + problems.cut!).toBe(failed);
    expect(trace!.observed!.outcome.filter((outcome) => outcome === 0).length).toBe(completed);
  });
});
