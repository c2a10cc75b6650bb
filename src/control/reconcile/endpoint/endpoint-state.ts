import type { ReplicaExit, ReplicaPhase } from '../../runner/contract.js';

/** What an endpoint should be, as far as its replicas are concerned. */
export interface DesiredEndpoint {
  /** 0 when it pauses, is being deleted, or is gone. */
  readonly replicas: number;
  /** What its replicas have to be; null while that cannot be said, for example because their model is on its way. */
  readonly specHash: string | null;
  /** Replicas beyond the number while it is updated, and short of it. */
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

/** A replica as its runner and the gateway see it. */
export interface ObservedReplica {
  readonly id: string;
  readonly specHash: string;
  readonly generation: number;
  readonly phase: ReplicaPhase;
  readonly url: string;
  readonly startedAt: number;
  readonly readyAt: number | null;
  readonly exit: ReplicaExit | null;
  /** It has been told to leave: it gets no more requests, and is stopped when it has none. */
  readonly isLeaving: boolean;
  /** Since when it has not said any more that it is well; null for one that does, and for one that never has. */
  readonly unwellSince: number | null;
  /** How many before it, in its place, have failed in a row. */
  readonly restarts: number;
  /** Requests that it has. */
  readonly inFlight: number;
}

/** What is to be done now. Each action may fail, and nothing but the next look depends on its success. */
export interface EndpointPlan {
  /** Who may be sent requests. */
  readonly routed: readonly ObservedReplica[];
  /** Who leaves: no new requests, then those it has, then its end. */
  readonly leave: readonly ObservedReplica[];
  /** Who has exited and is not worth remembering. */
  readonly forget: readonly ObservedReplica[];
  /** Replicas to be started: each with the exited one whose place it takes, if there is one. */
  readonly start: readonly StartedInPlace[];
  /**
   * Whether clients may count on somebody: `here` is who is ready or may be soon, `starting` is about to be, and `failing` are
   * those that have failed more than once.
   */
  readonly prospect: 'here' | 'starting' | 'failing';
  /** When to look again although nothing has happened; null for never. */
  readonly wakeAt: number | null;
}

export interface StartedInPlace {
  readonly instead: ObservedReplica | null;
  readonly restarts: number;
}

export const isRouted = ({ isLeaving, phase }: ObservedReplica) => phase === 'ready' && !isLeaving;
