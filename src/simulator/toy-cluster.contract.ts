import type { LatencyModel } from '../replica/latency/contract.js';
import type { ReplicaConfig } from '../replica/replica-config.js';
import { type ToyRequest, toyConfig, toyLatency, toyTable } from '../replica/toy-replica.contract.js';
import type { SessionDriver } from '../workload/workload.js';
import type { ClusterConfig, FlowControlConfig } from './cluster-config.js';
import { type SimulationWatch, simulate } from './simulate.js';

/** Two toy replicas, round-robin, nothing in the way. */
export function toyCluster(changes: Partial<ClusterConfig> = {}, replica: Partial<ReplicaConfig> = {}): ClusterConfig {
  return {
    instances: 2,
    seed: 42,
    horizonUs: null,
    replica: toyConfig(replica),
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

/** A gateway queue that opens when nothing is in flight, asked every 7 us. */
export function toyFlowControl(changes: Partial<FlowControlConfig> = {}): FlowControlConfig {
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

export interface ToyRun {
  latency?: Partial<LatencyModel>;
  sessions?: SessionDriver;
  watch?: SimulationWatch;
}

/** Runs the requests; `of` tells what became of a row. */
export function simulateToy(
  list: readonly ToyRequest[],
  config: ClusterConfig,
  { latency, sessions, watch }: ToyRun = {},
) {
  const table = toyTable(list);
  const workload = sessions === undefined ? { table } : { table, sessions };
  const result = simulate(config, workload, toyLatency(latency), watch);
  const byId = new Map(result.requests().map((one) => [one.request_id, one]));
  return { ...result, of: (row: number) => byId.get(`request_${row}`)! };
}
