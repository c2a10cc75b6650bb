import type { KubeObject } from '../kube-object.js';

/** A `coordination.k8s.io/v1` Lease as clients of leader election use it. */
export interface LeaseObject extends KubeObject {
  readonly spec?: LeaseSpec;
}

export interface LeaseSpec {
  /** Absent or empty: released. */
  readonly holderIdentity?: string | null;
  readonly leaseDurationSeconds?: number | null;
  /** By the holder's clock, for people: clocks differ, so they are never compared with ours. */
  readonly acquireTime?: string | null;
  readonly renewTime?: string | null;
  /** How often it has changed hands. */
  readonly leaseTransitions?: number | null;
}

/** Others take over when they have seen no renewal for so long. */
export const LEASE_S = 15;

export const holderOf = (lease: LeaseObject | null): string | null => lease?.spec?.holderIdentity || null;

/** What an election writes when it takes a Lease over, or renews its own. */
export function heldSpec(before: LeaseSpec | undefined, identity: string, wallMs: number): LeaseSpec {
  const now = microTime(wallMs);
  const isOurs = before?.holderIdentity === identity;
  const transitions = before?.leaseTransitions ?? 0;
  return {
    ...before,
    holderIdentity: identity,
    leaseDurationSeconds: LEASE_S,
    acquireTime: isOurs ? (before.acquireTime ?? now) : now,
    renewTime: now,
    leaseTransitions: before === undefined || isOurs ? transitions : transitions + 1,
  };
}

/** As the clients of Kubernetes release one: without a holder, and over after a second. */
export function releasedSpec(before: LeaseSpec, wallMs: number): LeaseSpec {
  const { holderIdentity: _, ...rest } = before;
  return { ...rest, leaseDurationSeconds: 1, renewTime: microTime(wallMs) };
}

/** `MicroTime`: the API server insists on six digits. */
const microTime = (ms: number) => new Date(ms).toISOString().replace('Z', '000Z');
