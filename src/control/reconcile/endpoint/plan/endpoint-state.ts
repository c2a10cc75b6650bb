import type { ServingState } from '../../../../gateway/fleet/managed-routes.js';
import type { GpuShare, ReplicaExit, ReplicaResources, RunPhase } from '../../../runner/contract.js';

/** The desired state of an endpoint's replicas. */
export interface DesiredEndpoint {
  /** 0 when the endpoint is paused, being deleted, or gone. */
  readonly replicas: number;
  /** The hash that replicas must have; null while it is not known, for example because the model is being downloaded. */
  readonly specHash: string | null;
  /** Replicas above and below the number during an update. */
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

/** The observed state of a replica, from its runner and from the gateway. */
export interface ObservedReplica {
  readonly id: string;
  readonly cluster: string;
  readonly specHash: string;
  readonly generation: number;
  readonly phase: RunPhase;
  readonly url: string;
  /** What it got; absent where its runner does not say. */
  readonly gpus?: readonly GpuShare[];
  readonly resources?: ReplicaResources;
  /** What keeps it from becoming ready, in the cluster's words. */
  readonly problem: string | null;
  readonly startedAt: number;
  readonly readyAt: number | null;
  readonly exit: ReplicaExit | null;
  /** It gets no more requests, and is stopped when it has none. */
  readonly isDraining: boolean;
  /** An operator has drained it: it leaves once enough others serve, as an outdated one does, and another one takes its place. */
  readonly isLeaving: boolean;
  /** Since when a replica that was ready is not; null for others. */
  readonly unreadySince: number | null;
  /** How many replicas before it have failed in a row in its place. */
  readonly restarts: number;
  readonly inFlight: number;
  /** What the gateway sees of it; null before it is routed to. */
  readonly serving: ServingState | null;
}

/** The next steps. Each may fail; only the next plan depends on its success. */
export interface EndpointPlan {
  /** Replicas that get requests. */
  readonly routed: readonly ObservedReplica[];
  /** Replicas that get no new requests, and are stopped when theirs have ended. */
  readonly drain: readonly ObservedReplica[];
  /** Exited replicas to remove. */
  readonly remove: readonly ObservedReplica[];
  /** Replicas to start, each with the exited one that it replaces, if any. */
  readonly start: readonly PlannedStart[];
  /**
   * What clients can expect: `available`, a replica is ready or may be soon; `starting`, one is about to be; `failing`, replicas
   * have failed more than once.
   */
  readonly prospect: 'available' | 'starting' | 'failing';
  /** Outdated replicas stay until the gateway reaches the new ones. */
  readonly isAwaitingGateway: boolean;
  /** When to plan again if nothing happens before; null for never. */
  readonly wakeAt: number | null;
}

export interface PlannedStart {
  readonly replaces: ObservedReplica | null;
  readonly restarts: number;
}

/** Ready by its runner: the cluster finds it well. The gateway may not reach it yet, or not at all. */
export const isRouted = ({ isDraining, phase }: ObservedReplica) => phase === 'ready' && !isDraining;

/** Not ready for its cluster, but the gateway reaches it: it serves where no other does. */
export const isStillReached = ({ isDraining, phase, serving }: ObservedReplica) =>
  phase === 'unready' && serving === 'ready' && !isDraining;
