import { withHost } from '../../replica/latency/latency-range.js';
import type { ReplicaModelConfig } from '../../replica/replica-model-config.js';
import type { ClusterConfig } from '../../simulator/cluster-config.js';
import type { LatencyMeasure } from '../metrics.js';
import { fleetGroups } from './planned-fleet.js';

/** How far step times may be off, as shares, and why. */
export interface StepTimeError {
  step: number;
  host: number;
  why: string;
}

/** The largest error of the replicas of a fleet; null where none states one. */
export function fleetErrorOf(config: ClusterConfig): StepTimeError | null {
  const errors = fleetGroups(config)
    .map(({ replica }) => modelErrorOf(replica))
    .filter((error) => error !== null);
  if (errors.length === 0) return null;
  return {
    step: Math.max(...errors.map(({ step }) => step)),
    host: Math.max(...errors.map(({ host }) => host)),
    why: [...new Set(errors.map(({ why }) => why))].join(', and for '),
  };
}

/** Null for a latency model that states no error. */
export function modelErrorOf({ latencyFamily, latencyProfile }: ReplicaModelConfig): StepTimeError | null {
  if (latencyProfile !== undefined) {
    const { step = 0, host = 0 } = latencyProfile.uncertainty ?? {};
    if (step === 0 && host === 0) return null;
    return { step, host, why: `the stated uncertainty of the profile '${latencyProfile.name}'` };
  }
  if (latencyFamily === undefined) return null;
  return {
    step: latencyFamily.expected.itl / 100,
    host: 0,
    why: `the usual error of ${latencyFamily.name} coefficients`,
  };
}

/** The usual error of this measure in per cent, where runs of hardware were compared with; else that of steps. */
export function errorPercent(
  { latencyFamily }: ReplicaModelConfig,
  error: StepTimeError,
  { of, at }: LatencyMeasure,
): number {
  if (latencyFamily === undefined) return Number((100 * Math.max(error.step, error.host)).toPrecision(2));
  const { e2e, itl, ttft, ttftP99 } = latencyFamily.expected;
  if (of === 'ttft') return at !== 'mean' && at >= 95 ? ttftP99 : ttft;
  return of === 'e2e' ? e2e : itl;
}

/** The cluster with steps that take as long as the error allows (`sign` 1), or as short (-1). */
export function withModelError(config: ClusterConfig, { step, host }: StepTimeError, sign: 1 | -1): ClusterConfig {
  const factors = Array.from(
    { length: config.instances },
    (_, i) => (config.slowFactors?.[i] ?? 1) * (1 + sign * step),
  );
  const changed = (replica: ReplicaModelConfig): ReplicaModelConfig =>
    replica.latencyProfile === undefined
      ? replica
      : { ...replica, latencyProfile: withHost(replica.latencyProfile, 1 + sign * host) };
  return {
    ...config,
    slowFactors: factors,
    replica: changed(config.replica),
    ...(config.fleet === undefined
      ? {}
      : { fleet: config.fleet.map(({ count, replica }) => ({ count, replica: changed(replica) })) }),
  };
}
