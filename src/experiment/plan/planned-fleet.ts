import type { ClusterConfig, FleetGroup } from '../../simulator/cluster-config.js';

/** Replicas of one kind in a fleet of several. */
export interface PlannedKind {
  gpu: string;
  tp: number;
  /** The name of their latency profile; null where the model of their GPU is used. */
  profile: string | null;
  replicas: number;
  gpus: number;
  /** Of all of them; null without a price. */
  pricePerHour: number | null;
}

/** The kinds of a fleet; one where all are alike. */
export function fleetGroups({ fleet, instances, replica }: ClusterConfig): FleetGroup[] {
  return fleet ?? [{ count: instances, replica }];
}

/** The cluster with another number of replicas: of a fleet of several kinds, replicas of the last kind are added or left out. */
export function withReplicas(config: ClusterConfig, replicas: number): ClusterConfig {
  const { fleet } = config;
  if (fleet === undefined) return { ...config, instances: replicas };
  const groups: FleetGroup[] = [];
  let left = replicas;
  for (const [i, { count, replica }] of fleet.entries()) {
    const taken = i === fleet.length - 1 ? left : Math.min(count, left);
    if (taken > 0) groups.push({ count: taken, replica });
    left -= taken;
  }
  return { ...config, instances: replicas, fleet: groups };
}

/** @param prices of a GPU in an hour, by its name in lower case; null: unknown */
export function plannedKinds(config: ClusterConfig, prices: ReadonlyMap<string, number> | null): PlannedKind[] {
  return fleetGroups(config).map(({ count, replica }) => {
    const gpus = count * replica.tp * replica.dp;
    const price = prices?.get(replica.hardware.toLowerCase());
    return {
      ...{ gpu: replica.hardware, tp: replica.tp, profile: replica.latencyProfile?.name ?? null },
      ...{ replicas: count, gpus },
      pricePerHour: price === undefined ? null : Number((gpus * price).toFixed(4)),
    };
  });
}
