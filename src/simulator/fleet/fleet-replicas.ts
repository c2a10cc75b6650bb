import type { LatencyModel } from '../../replica/latency/contract.js';
import { scaledLatency } from '../../replica/latency/latency-range.js';
import { replicaLatency } from '../../replica/replica-latency.js';
import type { ReplicaModelConfig } from '../../replica/replica-model-config.js';
import type { ClusterConfig } from '../cluster-config.js';

type Fleet = Pick<ClusterConfig, 'fleet' | 'instances' | 'replica' | 'slowFactors'>;

/** What one replica of a fleet is built from. */
export interface FleetReplica {
  readonly config: ReplicaModelConfig;
  /** Without its slow factor, and with it. */
  readonly latency: LatencyModel;
  readonly factor: number;
  readonly scaled: LatencyModel;
}

/** The replicas of a fleet in order. @param latency of `replica`, and so of the first group */
export function fleetReplicas(
  { fleet, instances, replica, slowFactors }: Fleet,
  latency: LatencyModel,
): FleetReplica[] {
  const groups = fleet ?? [{ count: instances, replica }];
  const kinds = groups.flatMap(({ count, replica: config }, i) => {
    const own = i === 0 ? latency : replicaLatency(config);
    return Array.from({ length: count }, () => ({ config, latency: own }));
  });
  return kinds.map((kind, i) => {
    const factor = slowFactors?.[i] ?? 1;
    return { ...kind, factor, scaled: factor === 1 ? kind.latency : scaledLatency(kind.latency, factor) };
  });
}

/** Seats of all replicas together. */
export function fleetSeats({ fleet, instances, replica }: Fleet): number {
  const groups = fleet ?? [{ count: instances, replica }];
  return groups.reduce((sum, { count, replica: { dp, maxNumSeqs } }) => sum + count * maxNumSeqs * Math.max(1, dp), 0);
}
