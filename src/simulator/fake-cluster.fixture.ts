import { type FakeRequest, fakeConfig, fakeLatency, fakeTable } from '../replica/fake-replica.fixture.js';
import type { LatencyModel } from '../replica/latency/contract.js';
import type { ReplicaModelConfig } from '../replica/replica-model-config.js';
import type { SessionDriver } from '../workload/workload.js';
import type { ClusterConfig, FlowControlConfig } from './cluster-config.js';
import { type SimulationWatch, simulate } from './simulate.js';

/** Two fake replicas, round-robin, no admission, no queue. */
export function fakeCluster(
  changes: Partial<ClusterConfig> = {},
  replica: Partial<ReplicaModelConfig> = {},
): ClusterConfig {
  return {
    instances: 2,
    seed: 42,
    horizonUs: null,
    replica: fakeConfig(replica),
    admission: { policy: 'always-admit', options: {} },
    tenantBudgets: {},
    sloPriorities: {},
    admissionLatencyUs: 0,
    flowControl: null,
    routing: { policy: 'round-robin', options: {} },
    routingLatencyUs: 0,
    snapshotRefreshUs: 0,
    cacheSignalDelayUs: 0,
    traceLevel: 'none',
    counterfactualK: 0,
    summarizeTrace: false,
    fitnessWeights: {},
    goodputTargets: {},
    ...changes,
  };
}

/** A gateway queue that opens when nothing is in flight, with a tick every 7 us. */
export function fakeFlowControl(changes: Partial<FlowControlConfig> = {}): FlowControlConfig {
  return {
    saturationDetector: 'concurrency',
    dispatchOrder: 'priority',
    dispatchTickUs: 7,
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
    ...changes,
  };
}

export interface FakeRun {
  latency?: Partial<LatencyModel>;
  sessions?: SessionDriver;
  watch?: SimulationWatch;
}

/** Runs the requests; `of` returns the result of a row. */
export function simulateFake(
  list: readonly FakeRequest[],
  config: ClusterConfig,
  { latency, sessions, watch }: FakeRun = {},
) {
  const table = fakeTable(list);
  const workload = sessions === undefined ? { table } : { table, sessions };
  const result = simulate(config, workload, fakeLatency(latency), watch);
  const byId = new Map(result.requests().map((one) => [one.request_id, one]));
  return { ...result, of: (row: number) => byId.get(`request_${row}`)! };
}
