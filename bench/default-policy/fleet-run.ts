import { derivedMaxModelLen } from '../../src/replica/catalogue/kv-capacity.js';
import type { ClusterConfig } from '../../src/simulator/cluster-config.js';
import { simulate } from '../../src/simulator/simulate.js';
import { cluster } from '../simulator/scenario.js';
import { type TrafficKind, tableOf } from './workloads.js';

export const REPLICAS = 4;
const SIGNAL_AGE_US = 1_000_000;

/** The result of one simulated run: four replicas of Qwen3-14B on H100s, default latency model, signals a second old. */
export function fleetRun(
  kind: TrafficKind,
  policy: string,
  rate: number,
  seed: number,
  count: number,
  pauses = 1,
  change: Partial<ClusterConfig> = {},
) {
  const { config, latency } = cluster(REPLICAS, policy, 'physics');
  const { totalKvBlocks, blockSize } = config.replica;
  const settings = {
    ...config,
    seed,
    snapshotRefreshUs: SIGNAL_AGE_US,
    cacheSignalDelayUs: SIGNAL_AGE_US,
    ...change,
    ...(kind.slowFactors === undefined ? {} : { slowFactors: kind.slowFactors }),
    replica: {
      ...config.replica,
      maxModelLen: derivedMaxModelLen({ maxContext: 0 }, undefined, totalKvBlocks, blockSize),
    },
  };
  return simulate(settings, { table: tableOf(kind, count, rate, seed, pauses) }, latency).document.cluster;
}

/** Requests per second that the fleet completes when there are always more: of a policy that spreads and reuses. */
export function capacityOf(kind: TrafficKind, count: number): number {
  const rates = ['lmetric', 'least-loaded'].map((policy) => fleetRun(kind, policy, 10_000, 1, count, 0));
  return Math.max(...rates.map(({ responses_per_sec }) => responses_per_sec));
}
