import { snakeCase } from '../../schema/names.js';
import { type KeyRecord, type KeyState, keyState, LIMIT_NAMES, type Limits } from './key-record.js';

/** A key as the API returns it, without its secret. Times are ISO 8601, names snake_case. */
export interface KeyView {
  id: string;
  name: string;
  state: KeyState;
  tenant: string;
  hint: string;
  role: string;
  models: readonly string[] | null;
  max_slo_class: string | null;
  limits: Record<string, Record<string, number>>;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  /** Until when the secret before the last rotation is accepted; null if it is not. */
  previous_until: string | null;
}

export function keyView(key: KeyRecord, now: number): KeyView {
  return {
    id: key.id,
    name: key.name,
    state: keyState(key, now),
    tenant: key.tenant,
    hint: key.hint,
    role: key.role,
    models: key.models,
    max_slo_class: key.maxSloClass,
    limits: Object.fromEntries(Object.entries(key.limits).map(([model, limits]) => [model, limitView(limits)])),
    created_at: iso(key.createdAt)!,
    expires_at: iso(key.expiresAt),
    revoked_at: iso(key.revokedAt),
    previous_until: key.previousUntil !== null && key.previousUntil > now ? iso(key.previousUntil) : null,
  };
}

/** `requestsPerMinute` as files and the API have it: `requests_per_minute`. */
export const limitKey: (name: keyof Limits) => string = snakeCase;

function limitView(limits: Limits): Record<string, number> {
  const given = LIMIT_NAMES.filter((name) => limits[name] !== undefined);
  return Object.fromEntries(given.map((name) => [limitKey(name), limits[name]!]));
}

const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
