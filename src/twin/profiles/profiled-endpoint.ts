import type { LatencyProfile } from '../../replica/latency/profile.js';
import type { KnownReplica } from './replica-facts.js';

/** A replica with an engine. */
export interface ProfiledReplica extends KnownReplica {
  readonly engineKey: string;
  /** Not null for an external API, which has no profile. */
  readonly external: object | null;
}

export interface ProfiledEndpoint {
  readonly name: string;
  /** Null for one of the configuration file. */
  readonly managed: { readonly uid?: string } | null;
  readonly replicas: readonly ProfiledReplica[];
  readonly profiles: { set(replica: string, profile: LatencyProfile | null): void };
}

export const hasEngine = ({ external }: ProfiledReplica) => external === null;

/** Their names, in order. */
export function profiledEngines({ replicas }: ProfiledEndpoint): string[] {
  return [...new Set(replicas.filter(hasEngine).map(({ engineKey }) => engineKey))].sort();
}
