import { describe, expect, test } from 'vitest';
import { loadGpu } from '../../src/replica/catalogue/gpu-catalogue.js';
import { loadModel } from '../../src/replica/catalogue/model-catalogue.js';
import type { LatencyModel } from '../../src/replica/latency/contract.js';
import { DEFAULT_MOE_COMM_BACKEND } from '../../src/replica/latency/moe-comm.js';
import { trainedPhysics } from '../../src/replica/latency/trained/trained-physics.js';
import type { ReplicaModelConfig } from '../../src/replica/replica-model-config.js';
import type { ClusterConfig, FlowControlConfig } from '../../src/simulator/cluster-config.js';
import { fakeCluster } from '../../src/simulator/fake-cluster.fixture.js';
import { RequestTable, ROW_FOLLOW_UP, ROW_GROWS_CONTEXT, setSourceId } from '../../src/workload/request-table.js';
import type { SessionDriver } from '../../src/workload/workload.js';
import { referenceSimulate } from './reference-simulate.js';

/** A step takes 1000 us plus 1 us per prompt token, so that timelines can be computed by hand. */
const simpleLatency: LatencyModel = {
  queueingUs: 100,
  outputTokenUs: 5,
  postDecodeUs: 7,
  stepUs: (shape) => (shape.scheduled === 0 ? 1 : 1000 + shape.prefillTokens),
};

const REPLICA: ReplicaModelConfig = {
  model: 'qwen/qwen3-14b',
  hardware: 'H100',
  tp: 1,
  dp: 1,
  moeCommBackend: DEFAULT_MOE_COMM_BACKEND,
  latencyModel: 'trained-physics',
  alphaCoeffs: null,
  betaCoeffs: null,
  totalKvBlocks: 100,
  blockSize: 4,
  gpuMemoryUtilization: 0.9,
  maxModelLen: 0,
  maxNumSeqs: 8,
  maxNumBatchedTokens: 64,
  longPrefillTokenThreshold: 0,
  scheduler: 'fcfs',
  preemptionPolicy: 'fcfs',
};

function clusterOf(changes: Partial<ClusterConfig> = {}, replica: Partial<ReplicaModelConfig> = {}): ClusterConfig {
  return fakeCluster(
    { instances: 1, routing: { policy: 'least-loaded', options: {} }, ...changes },
    { ...REPLICA, ...replica },
  );
}

interface Row {
  at: number;
  input: number;
  output: number;
  deadline?: number;
  prefix?: number;
  session?: string;
}

function tableOf(rows: readonly Row[]): RequestTable {
  const table = new RequestTable(rows.length);
  for (const { at, input, output, deadline = 0, prefix = 0, session = '' } of rows) {
    const row = table.append();
    table.arrivalUs[row] = at;
    table.inputTokens[row] = input;
    table.outputTokens[row] = output;
    table.deadlineUs[row] = deadline;
    table.session[row] = table.sessions.index(session);
    if (prefix > 0) {
      table.prefixGroup[row] = table.prefixGroups.index('shared');
      table.prefixTokens[table.prefixGroup[row]!] = prefix;
    }
  }
  return table;
}

const ONE = { at: 0, input: 8, output: 3 };

describe('one request', () => {
  test('a known model on a known GPU gives the known times', () => {
    const latency = trainedPhysics.create(
      {
        model: loadModel('qwen/qwen3-14b'),
        gpu: loadGpu('H100'),
        parallelism: { tp: 1, dp: 1, moeCommBackend: DEFAULT_MOE_COMM_BACKEND },
      },
      () => {},
    );
    const config = clusterOf({}, { blockSize: 16, totalKvBlocks: 15909, maxNumBatchedTokens: 2048 });
    const result = referenceSimulate(config, { table: tableOf([{ at: 500_000, input: 62, output: 10 }]) }, latency);
    expect(result.requests[0]).toMatchObject({
      status: 'completed',
      schedulingDelayUs: 15_563,
      ttftUs: 28_022,
      e2eUs: 138_711,
    });
    expect(result.tokenGapsUs[0]).toBe(12_212);
    // 10 tokens at 45 us each and the 777 us at the end are reported but do not move the clock.
    expect(result.durationUs).toBe(500_000 + 138_711 - 10 * 45 - 777);
  });

  test('prefill, two decode steps, and the last token in a block that was there already', () => {
    const result = referenceSimulate(clusterOf(), { table: tableOf([ONE]) }, simpleLatency);
    expect(result.requests[0]).toMatchObject({
      id: 'request_0',
      instance: 0,
      schedulingDelayUs: 100,
      ttftUs: 100 + 1008 + 5,
      tokenGapsUs: [1005, 1005],
      e2eUs: 1113 + 2010 + 7,
    });
    expect(result.instances[0]).toMatchObject({ hits: 0, misses: 3, totalOutputTokens: 3, endUs: 3108 });
  });

  test('a deadline cuts the output but not the first token; the step that was due still fires', () => {
    const table = tableOf([{ ...ONE, output: 10, deadline: 2500 }]);
    const result = referenceSimulate(clusterOf(), { table }, simpleLatency);
    expect(result.requests[0]).toMatchObject({ status: 'timed_out', ttftUs: 1113, e2eUs: null });
    expect(result.durationUs).toBe(3108);
    expect(result.tokenGapsUs).toEqual([]);
  });

  test('the deadline of a request that has left prolongs nothing', () => {
    const result = referenceSimulate(clusterOf(), { table: tableOf([{ ...ONE, deadline: 1e9 }]) }, simpleLatency);
    expect(result.counts.completed).toBe(1);
    expect(result.durationUs).toBe(3108);
  });
});

test('the router sees a seat free once the last step has begun', () => {
  const placeOf = (at: number) => {
    const table = tableOf([ONE, { at, input: 8, output: 3 }]);
    return referenceSimulate(clusterOf({ instances: 2 }), { table }, simpleLatency).requests[1]!.instance;
  };
  // The last step begins at 100 + 1008 + 1000; at equal times the router decides first.
  expect(placeOf(2108)).toBe(1);
  expect(placeOf(2109)).toBe(0);
});

test('a prompt that is cached as a whole costs no step and claims no block', () => {
  const table = tableOf([
    { at: 0, input: 8, output: 2, prefix: 8 },
    { at: 10_000, input: 8, output: 2, prefix: 8 },
  ]);
  const result = referenceSimulate(clusterOf(), { table }, simpleLatency);
  expect(result.requests[1]).toMatchObject({ ttftUs: 100 + 1 + 5, e2eUs: 106 + 1005 + 7 });
  expect(result.instances[0]).toMatchObject({ hits: 0, misses: 4 });
});

test('memory for one: the later request is pushed out and starts over', () => {
  const table = tableOf([
    { at: 0, input: 8, output: 6 },
    { at: 0, input: 8, output: 6 },
  ]);
  const result = referenceSimulate(clusterOf({}, { totalKvBlocks: 4 }), { table }, simpleLatency);
  expect(result.preemptions).toBe(1);
  expect(result.requests[0]).toMatchObject({ ttftUs: 1121, e2eUs: 1121 + 5 * 1005 + 7 });
  expect(result.requests[1]).toMatchObject({ schedulingDelayUs: 6116, ttftUs: 7129, e2eUs: 7129 + 5 * 1005 + 7 });
  expect(result.instances[0]).toMatchObject({ hits: 0, misses: 10, endUs: 12_124 });
});

test.each([
  { output: 5, hits: 3, why: 'the answer without its last token fills the third block' },
  { output: 4, hits: 2, why: 'the third block ends with the last token, which the chat does not repeat' },
])('the next turn of a session hits its cached context: $why', ({ output, hits }) => {
  const sessions: SessionDriver = {
    left(table, row, completed, atUs) {
      if (row > 0 || !completed) return -1;
      const next = table.append();
      setSourceId(table, next, 1);
      table.arrivalUs[next] = atUs;
      table.inputTokens[next] = 16;
      table.outputTokens[next] = 1;
      table.session[next] = table.session[row]!;
      table.round[next] = 1;
      table.flags[next] = ROW_FOLLOW_UP | ROW_GROWS_CONTEXT;
      return next;
    },
  };
  const table = tableOf([{ at: 0, input: 8, output, session: 's' }]);
  const result = referenceSimulate(clusterOf(), { table, sessions }, simpleLatency);
  expect(result.requests[1]).toMatchObject({ id: 'session_s_round_1_1', ttftUs: 100 + 1000 + (16 - 4 * hits) + 5 });
  expect(result.instances[0]!.hits).toBe(hits);
});

test.each([
  { dispatchTickUs: 1000, delayUs: 3000 - 10, when: 'at the first tick after the seat is free' },
  { dispatchTickUs: 0, delayUs: 2108 - 10, when: 'the moment the seat is free' },
])('the gateway lets the next one go $when', ({ dispatchTickUs, delayUs }) => {
  const flowControl: FlowControlConfig = {
    saturationDetector: 'concurrency',
    dispatchOrder: 'priority',
    dispatchTickUs,
    queueDepthThreshold: 5,
    kvCacheUtilThreshold: 0.8,
    maxConcurrency: 1,
    usageLimitThreshold: 1,
    fairnessPolicy: 'global-strict',
    requestTtlUs: 0,
    maxQueueDepth: 0,
    perBandCapacity: 0,
    queueShedding: false,
    sloTargetsUs: {},
  };
  const table = tableOf([ONE, { ...ONE, at: 10 }]);
  const result = referenceSimulate(clusterOf({ flowControl }), { table }, simpleLatency);
  expect(result.requests.map((request) => request.gatewayDelayUs)).toEqual([0, delayUs]);
  expect(result.counts.completed).toBe(2);
});

test('what the horizon cuts off is counted, not lost', () => {
  const table = tableOf([ONE, { ...ONE, at: 1950 }, { ...ONE, at: 5000 }]);
  const result = referenceSimulate(clusterOf({ horizonUs: 2000 }), { table }, simpleLatency);
  expect(result.counts).toMatchObject({ running: 1, in_pipeline: 1, not_arrived: 1, completed: 0 });
  expect(result.requests[0]).toMatchObject({ ttftUs: 1113, e2eUs: null });
});
