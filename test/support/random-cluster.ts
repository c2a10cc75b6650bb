import fc from 'fast-check';
import { loadGpu } from '../../src/replica/catalogue/gpu-catalogue.js';
import { loadModel } from '../../src/replica/catalogue/model-catalogue.js';
import type { LatencyModel } from '../../src/replica/latency/contract.js';
import { fakeProfile } from '../../src/replica/latency/fake-profile.fixture.js';
import { latencyModel } from '../../src/replica/latency/registry.js';
import type { ClusterConfig, FlowControlConfig } from '../../src/simulator/cluster-config.js';

const SCORERS = [
  'prefix-affinity',
  'precise-prefix-cache',
  'no-hit-lru',
  'queue-depth',
  'waiting-queue',
  'kv-utilization',
  'load-balance',
  'active-requests',
  'running-requests',
  'load-aware',
  'vllm-dp',
];

export const latencyModels: Record<string, LatencyModel> = Object.fromEntries(
  ['trained-physics', 'roofline', 'profile'].map((name) => {
    const parallelism = { tp: 1, dp: 1, moeCommBackend: 'allgather_reducescatter' };
    const setup = { model: loadModel('qwen/qwen3-14b'), gpu: loadGpu('H100'), parallelism, profile: fakeProfile() };
    return [name, latencyModel(name).create(setup, () => {})];
  }),
);

const flowControl: fc.Arbitrary<FlowControlConfig> = fc.record({
  saturationDetector: fc.constantFrom('never', 'utilization', 'concurrency'),
  dispatchOrder: fc.constantFrom('priority', 'fifo', 'slo-deadline'),
  dispatchTickUs: fc.constantFrom(0, 1000, 7777),
  queueDepthThreshold: fc.integer({ min: 1, max: 5 }),
  kvCacheUtilThreshold: fc.constantFrom(0.3, 0.8),
  maxConcurrency: fc.integer({ min: 1, max: 8 }),
  usageLimitThreshold: fc.constantFrom(0.2, 0.7, 1),
  fairnessPolicy: fc.constantFrom('global-strict', 'round-robin'),
  requestTtlUs: fc.constantFrom(0, 40_000, 900_000),
  maxQueueDepth: fc.constantFrom(0, 3, 12),
  perBandCapacity: fc.constantFrom(0, 2, 8),
  queueShedding: fc.boolean(),
  sloTargetsUs: fc.constantFrom<Record<string, number>[]>({}, { critical: 50_000, batch: 900_000 }),
});

const weighted = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...SCORERS), fc.integer({ min: 1, max: 5 })), {
    selector: ([name]) => name,
    minLength: 1,
    maxLength: 4,
  })
  .map((pairs) => ({ policy: 'weighted', options: { scorers: pairs.map(([n, w]) => `${n}:${w}`).join(',') } }));

const routing = fc.oneof(
  fc.constantFrom('round-robin', 'least-loaded', 'always-busiest').map((policy) => ({ policy, options: {} })),
  weighted,
);

const admission = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ policy: 'always-admit', options: {} }) },
  fc
    .record({ capacity: fc.integer({ min: 1, max: 900 }), refill_rate: fc.integer({ min: 1, max: 3000 }) })
    .map((options) => ({
      policy: 'token-bucket',
      options,
    })),
  fc.record({ threshold: fc.nat(6), min_priority: fc.integer({ min: -3, max: 4 }) }).map((options) => ({
    policy: 'tier-shed',
    options,
  })),
  fc.constant({ policy: 'gaie-legacy', options: { qd_threshold: 2, kv_threshold: 0.5 } }),
);

/** Small clusters under pressure: few blocks, small batches, every policy, stale signals, horizons. */
export const randomConfig: fc.Arbitrary<ClusterConfig> = fc
  .record({
    instances: fc.integer({ min: 1, max: 4 }),
    horizonUs: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, fc.integer({ min: 1, max: 3_000_000 })),
    latency: fc.constantFrom('trained-physics', 'roofline', 'profile'),
    engineRules: fc.constantFrom(undefined, undefined, 'vllm-v1', 'vllm-v1-async'),
    blockSize: fc.constantFrom(1, 2, 4, 8, 16),
    memoryTokens: fc.constantFrom(64, 200, 500, 1500, 20_000),
    maxModelLen: fc.constantFrom(0, 120, 700),
    maxNumSeqs: fc.constantFrom(1, 3, 8, 64),
    maxNumBatchedTokens: fc.constantFrom(4, 30, 100, 2048),
    longPrefillTokenThreshold: fc.constantFrom(0, 0, 7, 40),
    scheduler: fc.constantFrom('fcfs', 'priority-fcfs', 'sjf', 'reverse-priority'),
    preemptionPolicy: fc.constantFrom('fcfs', 'priority'),
    admission,
    tenantBudgets: fc.constantFrom<Record<string, number>[]>({}, { t1: 0, t2: 0.2 }),
    admissionLatencyUs: fc.constantFrom(0, 0, 3000),
    routingLatencyUs: fc.constantFrom(0, 0, 5000),
    flowControl: fc.option(flowControl),
    routing,
    snapshotRefreshUs: fc.constantFrom(0, 0, 20_000, 200_000),
    cacheSignalDelayUs: fc.constantFrom(0, 0, 30_000),
  })
  .map(({ latency, blockSize, memoryTokens, ...rest }) => ({
    instances: rest.instances,
    seed: 42,
    horizonUs: rest.horizonUs,
    replica: {
      model: 'qwen/qwen3-14b',
      hardware: 'H100',
      tp: 1,
      dp: 1,
      moeCommBackend: 'allgather_reducescatter',
      latencyModel: latency,
      alphaCoeffs: null,
      betaCoeffs: null,
      totalKvBlocks: Math.ceil(memoryTokens / blockSize),
      blockSize,
      gpuMemoryUtilization: 0.9,
      maxModelLen: Math.min(rest.maxModelLen, Math.ceil(memoryTokens / blockSize) * blockSize) || memoryTokens,
      maxNumSeqs: rest.maxNumSeqs,
      maxNumBatchedTokens: rest.maxNumBatchedTokens,
      longPrefillTokenThreshold: rest.longPrefillTokenThreshold,
      scheduler: rest.scheduler,
      preemptionPolicy: rest.preemptionPolicy,
      // No engine with these rules has blocks of one token, which are full as soon as they are taken.
      ...(rest.engineRules === undefined || blockSize === 1 ? {} : { engineRules: rest.engineRules }),
    },
    admission: rest.admission,
    tenantBudgets: rest.tenantBudgets,
    sloPriorities: {},
    admissionLatencyUs: rest.admissionLatencyUs,
    flowControl: rest.flowControl,
    routing: rest.routing,
    routingLatencyUs: rest.routingLatencyUs,
    snapshotRefreshUs: rest.snapshotRefreshUs,
    cacheSignalDelayUs: rest.cacheSignalDelayUs,
    traceLevel: 'decisions',
    counterfactualK: 4,
    summarizeTrace: true,
    fitnessWeights: {},
    goodputTargets: {},
  }));
