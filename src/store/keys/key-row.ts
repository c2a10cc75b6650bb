import type { Selectable } from 'kysely';
import type { ApiKeyRow } from '../database/schema.js';
import type { KeyLimits, KeyRecord, KeyRole } from './key-record.js';

/**
 * A key as a row of its table.
 * @param version number of the change that writes the row
 */
export function rowOf(key: KeyRecord, version: number): Selectable<ApiKeyRow> {
  return {
    id: key.id,
    name: key.name,
    hash: key.hash,
    previous_hash: key.previousHash,
    previous_until: key.previousUntil,
    hint: key.hint,
    tenant: key.tenant,
    models: key.models === null ? null : JSON.stringify(key.models),
    max_slo_class: key.maxSloClass,
    role: key.role,
    limits: JSON.stringify(key.limits),
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
    version,
  };
}

export function recordOf(row: Selectable<ApiKeyRow>): KeyRecord {
  return {
    id: row.id,
    name: row.name,
    hash: row.hash,
    previousHash: row.previous_hash,
    previousUntil: row.previous_until,
    hint: row.hint,
    tenant: row.tenant,
    models: row.models === null ? null : (JSON.parse(row.models) as string[]),
    maxSloClass: row.max_slo_class,
    role: row.role as KeyRole,
    limits: JSON.parse(row.limits) as KeyLimits,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  };
}
