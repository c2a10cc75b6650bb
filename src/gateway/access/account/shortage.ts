import type { LIMIT_NAMES } from '../../../store/keys/key-record.js';

export type LimitName = (typeof LIMIT_NAMES)[number];

/** A limit that is not set. */
export const UNLIMITED = Number.POSITIVE_INFINITY;

/** Waiting does not help: the request is larger than the limit itself. */
export const NEVER_FITS = Number.POSITIVE_INFINITY;

/** Why a request does not fit into an account. Money is in nano-dollars. */
export interface Shortage {
  limit: LimitName;
  /** The limit, what is left of it, and what the request would need. */
  most: number;
  left: number;
  needed: number;
  /** Whole seconds until it fits, if nothing is added meanwhile; NEVER_FITS when it cannot. */
  retryAfterS: number;
}

/** Of two, the one that refuses the request longer. */
export function longer(a: Shortage | null, b: Shortage | null): Shortage | null {
  if (a === null || b === null) return a ?? b;
  return b.retryAfterS > a.retryAfterS ? b : a;
}
