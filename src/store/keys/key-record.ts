/** What a key may be used for besides asking models: to look at the gateway, to change what it does, to do everything. */
export const KEY_ROLES = ['none', 'viewer', 'operator', 'admin'] as const;

export type KeyRole = (typeof KEY_ROLES)[number];

/** At most so much; what is left out is not limited. Days and months are UTC. */
export interface Limits {
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  /** Requests under way at the same time. */
  readonly concurrent?: number;
  readonly tokensPerDay?: number;
  readonly tokensPerMonth?: number;
  readonly dollarsPerDay?: number;
  readonly dollarsPerMonth?: number;
}

/** Every limit there is, in the order in which they are shown. */
export const LIMIT_NAMES = [
  'requestsPerMinute',
  'tokensPerMinute',
  'concurrent',
  'tokensPerDay',
  'tokensPerMonth',
  'dollarsPerDay',
  'dollarsPerMonth',
] as const satisfies readonly (keyof Limits)[];

/** By model; those under `*` hold for all models together. */
export type KeyLimits = Readonly<Record<string, Limits>>;

/** A key as it is stored: never its text, which only its holder has. Times are milliseconds since 1970. */
export interface KeyRecord {
  /** Part of the text, and what it is called by from then on. */
  readonly id: string;
  readonly name: string;
  /** SHA-256 of the whole text, hexadecimal. */
  readonly hash: string;
  /** The text before the last rotation is accepted until `previousUntil`. */
  readonly previousHash: string | null;
  readonly previousUntil: number | null;
  /** The text's last characters, by which its holder knows it again. */
  readonly hint: string;
  /** Who the requests are counted for where tenants share. */
  readonly tenant: string;
  /** The models it may ask; null for all. */
  readonly models: readonly string[] | null;
  /** The most important class its requests may claim; null for any. */
  readonly maxSloClass: string | null;
  readonly role: KeyRole;
  readonly limits: KeyLimits;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

/** What somebody who makes a key says about it. */
export interface KeySettings {
  readonly name: string;
  /** The name, if nothing else is said. */
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
