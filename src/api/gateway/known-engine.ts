import type { Endpoint } from '../../gateway/fleet/endpoint/endpoint.js';
import { modelsOf } from './live-endpoints.js';

type LatencyProfile = NonNullable<ReturnType<Endpoint['profiles']['profileOf']>>;

/** What the gateway knows of the engines of an endpoint. */
export interface KnownEngine {
  /** Null: it serves none yet. */
  readonly model: string | null;
  /** That of most replicas; null: none is known, or none that is good enough. */
  readonly profile: LatencyProfile | null;
  /** Different ones: replicas of other GPUs or engines have their own. */
  readonly profiles: number;
}

export function knownEngine(endpoint: Pick<Endpoint, 'managed' | 'profiles' | 'replicas'>): KnownEngine {
  const replicas = new Map<LatencyProfile, number>();
  for (const [, profile] of endpoint.profiles.all()) replicas.set(profile, (replicas.get(profile) ?? 0) + 1);
  const [most] = [...replicas].sort(([, a], [, b]) => b - a);
  return { model: modelsOf(endpoint)[0] ?? null, profile: most?.[0] ?? null, profiles: replicas.size };
}
