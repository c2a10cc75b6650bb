import type { KeyRole, Limits } from './key-schema.js';

export { KEY_ROLES, type KeyRole, LIMIT_NAMES, type Limits } from './key-schema.js';

/** By model; those of `*` hold for all models together. */
export type KeyLimits = Readonly<Record<string, Limits>>;

/** A key as it is stored, without its secret. Times are milliseconds since 1970. */
export interface KeyRecord {
  /** Part of the secret; never changes. */
  readonly id: string;
  readonly name: string;
  /** SHA-256 of the secret, hexadecimal. */
  readonly hash: string;
  /** The secret before the last rotation is accepted until `previousUntil`. */
  readonly previousHash: string | null;
  readonly previousUntil: number | null;
  /** The last characters of the secret, to tell keys apart. */
  readonly hint: string;
  /** The tenant its requests count for where tenants share. */
  readonly tenant: string;
  /** The models it may use; null for all. */
  readonly models: readonly string[] | null;
  /** The most important SLO class its requests may ask for; null for any. */
  readonly maxSloClass: string | null;
  readonly role: KeyRole;
  readonly limits: KeyLimits;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

/** A key as it is created. */
export interface KeySettings {
  readonly name: string;
  /** The name unless given. */
  readonly tenant?: string;
  readonly models?: readonly string[] | null;
  readonly maxSloClass?: string | null;
  readonly role?: KeyRole;
  readonly limits?: KeyLimits;
  readonly expiresAt?: number | null;
}

export type KeyState = 'active' | 'expired' | 'revoked';

export function keyState(key: KeyRecord, now: number): KeyState {
  if (key.revokedAt !== null) return 'revoked';
  return key.expiresAt !== null && key.expiresAt <= now ? 'expired' : 'active';
}
