import type { PolicyConfig, ReplicaConfig } from '../config/gateway-config.js';

/**
 * How the control plane declares endpoints to the gateway. They live beside the endpoints of the configuration file,
 * and no reload of that changes it. Everything is plain data, and every call is in force when it returns.
 */
export interface ManagedRoutes {
  /**
   * Makes an endpoint so, with exactly these replicas; those not listed any more take no new requests and leave when
   * theirs have ended. Requests under way are kept, and the policy is swapped only if it differs. The same again
   * changes nothing. Throws an InputError when a name is taken; then nothing has changed.
   */
  put(endpoint: ManagedEndpoint): void;
  /** The endpoint goes; requests under way end as they would. */
  remove(workspace: string, name: string): void;
  /**
   * Resolves true when the replica has no request any more (or is not known), false when `withinMs` have passed; what a
   * replica that has left still has is then cut.
   */
  drained(workspace: string, name: string, replicaId: string, withinMs: number): Promise<boolean>;
  /**
   * What the gateway sees of the replicas: those listed, in that order, then those that have left and still have
   * requests.
   */
  states(workspace: string, name: string): ReplicaState[];
}

export interface ManagedEndpoint {
  workspace: string;
  name: string;
  policy: PolicyConfig;
  /** Those that may get requests: found ready by their runner, or external upstreams. */
  replicas: readonly ManagedReplica[];
  /** What it serves, also while no replica is there; without it, what its replicas serve. */
  models?: readonly string[];
  /** Part of the refusal while no replica is ready, as in 'the model is being downloaded'. */
  waitsFor?: string;
  /** No replica will come soon, as when it is paused: requests are refused at once instead of after a short wait. */
  isIdle?: boolean;
}

/** An endpoint without its policy and its replicas. */
export type ManagedFacts = Omit<ManagedEndpoint, 'policy' | 'replicas'>;

/** Its id is its own among all replicas of the gateway. */
export interface ManagedReplica extends ReplicaConfig {
  /** Where it says that it is well, and where its metrics are: `/health` and `/metrics` unless given. */
  healthPath?: string;
  loadPath?: string;
  /** An external API: it has neither, and `engine` means nothing. */
  external?: ExternalConfig;
}

/** How an external API is called. */
export interface ExternalConfig {
  /** What takes the place of `/v1` in paths there: '/v1', '/v1beta/openai' or ''. See `upstreamAddress`. */
  prefix: string;
  /** Sent as a bearer token instead of the client's; null: none is. */
  credential: string | null;
  /** What requests call a model, and what it is called there. Names that are not here are passed on as they are. */
  renames: Readonly<Record<string, string>>;
  /** Its part of the requests among those of its tier; 0: none. */
  weight: number;
  /** Used while no replica of a lower tier is available. */
  tier: number;
  /** Until its response begins; without it, as for all replicas. */
  firstByteMs?: number;
}

/** The phases of a replica's life. Only a ready one gets requests. */
export type ServingState = 'starting' | 'ready' | 'unhealthy' | 'draining';

export interface ReplicaState {
  id: string;
  state: ServingState;
  /**
   * Why it is not ready, or what is wrong with it all the same by its last check or its last requests; empty when all
   * is well.
   */
  problem: string;
  inFlight: number;
}
