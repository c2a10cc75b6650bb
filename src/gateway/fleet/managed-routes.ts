import type { EngineTask } from '../../engines/task.js';
import type { PolicyConfig, ReplicaConfig } from '../config/gateway-config.js';

/**
 * How the control plane declares endpoints to the gateway. They exist beside the endpoints of the configuration file,
 * and a reload does not change them. Everything is plain data, and every call is in force when it returns.
 */
export interface ManagedRoutes {
  /**
   * Applies an endpoint with exactly these replicas; those not listed any more take no new requests and leave when
   * theirs have ended. Requests under way are kept, and the policy is swapped only if it differs. Idempotent. Throws an
   * InputError when a name is taken; then nothing has changed.
   */
  put(endpoint: ManagedEndpoint): void;
  /** Removes the endpoint; requests under way finish. */
  remove(workspace: string, name: string): void;
  /**
   * Resolves true when the replica has no request any more (or is not known), false when `withinMs` have passed; then
   * the remaining requests of a replica that has left are aborted.
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
  /** Tells it from another one of that name later. */
  uid?: string;
  policy: PolicyConfig;
  /** Those that may get requests: found ready by their runner, or external upstreams. */
  replicas: readonly ManagedReplica[];
  /** Its models, also while it has no replica; defaults to the models of its replicas. */
  models?: readonly string[];
  /** What its models do: requests for another task are refused. Without it, the engine decides. */
  task?: EngineTask;
  /** Part of the refusal while no replica is ready, as in 'the model is being downloaded'. */
  waitsFor?: string;
  /** No replica is expected, as when it is paused: requests are refused at once instead of after a short wait. */
  isIdle?: boolean;
}

/** An endpoint without its policy and its replicas. */
export type ManagedFacts = Omit<ManagedEndpoint, 'policy' | 'replicas'>;

/** Its id is unique among all replicas of the gateway. */
export interface ManagedReplica extends ReplicaConfig {
  /** The paths of its health check and metrics; by default `/health` and `/metrics`. */
  healthPath?: string;
  loadPath?: string;
  /** An external API: it has neither, and `engine` is ignored. */
  external?: ExternalConfig;
}

/** How an external API is called. */
export interface ExternalConfig {
  /** Replaces `/v1` in paths: '/v1', '/v1beta/openai' or ''. See `upstreamAddress`. */
  prefix: string;
  /** Sent as a bearer token instead of the client's; null: none is sent. */
  credential: string | null;
  /** Model names of requests to names at the upstream. Other names are passed on unchanged. */
  renames: Readonly<Record<string, string>>;
  /** Its share of the requests of its tier; 0: none. */
  weight: number;
  /** Used while no replica of a lower tier is available. */
  tier: number;
  /** Until its response begins; without it, as for all replicas. */
  firstByteMs?: number;
  /** Its connections may not reach this machine, its network segment or metadata services: an admin has not allowed it. */
  isGuarded?: boolean;
}

/** The phases of a replica's life. Only a ready one gets requests. */
export type ServingState = 'starting' | 'ready' | 'unhealthy' | 'draining';

export interface ReplicaState {
  id: string;
  state: ServingState;
  /**
   * Why it is not ready, or the problem found by its last check or requests although it is ready; empty without one.
   */
  problem: string;
  inFlight: number;
}
