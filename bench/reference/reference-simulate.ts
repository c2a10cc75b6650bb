import type { LatencyModel } from '../../src/replica/latency/contract.js';
import type { ClusterConfig } from '../../src/simulator/cluster-config.js';
import type { Workload } from '../../src/workload/workload.js';
import { Cluster } from './cluster.js';
import { collectResult, type ReferenceResult } from './result.js';

/**
 * A naive simulator: every event, every step and every running request one by one, with real token ids. Slow on
 * purpose. The fast simulator must agree with it to the microsecond, and benchmarks compare their speed.
 */
export function referenceSimulate(config: ClusterConfig, workload: Workload, latency: LatencyModel): ReferenceResult {
  const cluster = new Cluster(config, workload, latency);
  while (cluster.advance()) {}
  return collectResult(cluster.requests, cluster.instances, cluster.decisions);
}
