import { camelKeys } from '../../schema/names.js';
import type { Json, ResourceRecord } from '../resources/resource-record.js';
import type { KeyGrant, KeyRole, KeySpec, Limits } from './key-schema.js';

export { KEY_ROLES, type KeyRole, LIMIT_NAMES, type Limits } from './key-schema.js';

/** The kind of resource that a key is. */
export const API_KEY = 'ApiKey';

/** The id under which the subject of a token is counted. No ApiKey has such a uid. */
export const subjectIdOf = (workspace: string, digest: string) => `jwt/${workspace}/${digest}`;

/** The workspace in such an id; undefined for any other. */
export const subjectWorkspace = (id: string) => /^jwt\/([^/]+)\//.exec(id)?.[1];

/** By model; those of `*` hold for all models together. */
export type KeyLimits = Readonly<Record<string, Limits>>;

/** An ApiKey that has a secret, as a gateway uses it. Times are milliseconds since 1970. */
export interface KeyRecord {
  /** The uid of the ApiKey: part of the secret, and the key's name in usage. */
  readonly id: string;
  readonly workspace: string;
  readonly name: string;
  /** SHA-256 of the secret, hexadecimal. */
  readonly hash: string;
  /** The secret before the last rotation is accepted until `previousUntil`. */
  readonly previousHash: string | null;
  readonly previousUntil: number | null;
  /** The tenant its requests count for where tenants share. */
  readonly tenant: string;
  /** The models it may use; null for all. */
  readonly models: readonly string[] | null;
  /** The workspaces that it reaches besides its own. */
  readonly grants: readonly KeyGrant[];
  /** The most important SLO class its requests may use; null for any. */
  readonly maxSloClass: string | null;
  readonly role: KeyRole;
  /** Of the subject of a token: its role in its workspace. ApiKeys have those of Role resources. */
  readonly workspaceRole?: KeyRole;
  readonly limits: KeyLimits;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

/** What is stored with an ApiKey beside its spec, and shown. Times are ISO 8601. */
export interface KeyStatus extends Json {
  /** The last characters of the secret, to distinguish keys. */
  readonly hint?: string;
  /** Until when the secret before the last rotation is accepted. */
  readonly previous_until?: string;
  readonly revoked_at?: string;
}

/** What is stored with an ApiKey and never shown: hashes of its secrets. */
export interface KeyHashes extends Json {
  readonly hash: string;
  readonly previous_hash: string | null;
}

/** The key record of an ApiKey; null while it has no secret. */
export function keyRecordOf(record: ResourceRecord): KeyRecord | null {
  const { deletedAt, name, privateState, uid, workspace } = record;
  if (privateState === null) return null;
  const { hash, previous_hash } = privateState as KeyHashes;
  const { previous_until, revoked_at } = (record.status ?? {}) as KeyStatus;
  const { expires_at, grants, limits, max_slo_class, models, role, tenant } = record.spec as KeySpec;
  return {
    id: uid,
    workspace,
    name,
    hash,
    previousHash: previous_hash,
    previousUntil: timeOf(previous_until),
    tenant: tenant ?? name,
    models: models ?? null,
    grants,
    maxSloClass: max_slo_class ?? null,
    role,
    limits: Object.fromEntries(Object.entries(limits).map(([model, of]) => [model, camelKeys(of)])),
    expiresAt: timeOf(expires_at),
    revokedAt: timeOf(revoked_at) ?? deletedAt,
  };
}

const timeOf = (iso: string | undefined) => (iso === undefined ? null : Date.parse(iso));

export type KeyPhase = 'Pending' | 'Active' | 'Expired' | 'Revoked';

/** Where an ApiKey stands at a moment. */
export function keyPhase({ privateState, spec, status }: ResourceRecord, now: number): KeyPhase {
  if ((status as KeyStatus | null)?.revoked_at !== undefined) return 'Revoked';
  const { expires_at } = spec as KeySpec;
  if (expires_at !== undefined && Date.parse(expires_at) <= now) return 'Expired';
  return privateState === null ? 'Pending' : 'Active';
}
