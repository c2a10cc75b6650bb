import type { Selectable } from 'kysely';
import type { ResourceRow } from '../database/schema.js';

/** Identifies a resource. */
export interface ResourceRef {
  readonly kind: string;
  /** Empty for kinds that belong to no workspace. */
  readonly workspace: string;
  readonly name: string;
}

export type Json = Readonly<Record<string, unknown>>;

/** A resource as it is stored. Secrets in its spec are sealed. Times are milliseconds since 1970. */
export interface ResourceRecord extends ResourceRef {
  /** New for each resource that is created, even under a name used before. */
  readonly uid: string;
  /** Grows by one with each change of the spec, and with nothing else. */
  readonly generation: number;
  /** Version of the last change of any part. Versions are numbered over all resources of the store. */
  readonly resourceVersion: number;
  /** Version of the last change apart from the status. */
  readonly specVersion: number;
  readonly spec: Json;
  readonly status: Json | null;
  /** For this server alone: no response and no audit entry holds it. */
  readonly privateState: Json | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Set when it was deleted and its replicas are not taken down yet. */
  readonly deletedAt: number | null;
}

/** What happened to a resource. `deleting`: it is marked for deletion; `removed`: it no longer exists. */
export interface ResourceChange {
  readonly type: 'created' | 'changed' | 'status' | 'deleting' | 'removed';
  readonly version: number;
  /** The resource now, or as it last was. */
  readonly record: ResourceRecord;
}

export function resourceRowOf(record: ResourceRecord): Selectable<ResourceRow> {
  return {
    kind: record.kind,
    workspace: record.workspace,
    name: record.name,
    uid: record.uid,
    generation: record.generation,
    resource_version: record.resourceVersion,
    spec_version: record.specVersion,
    spec: JSON.stringify(record.spec),
    status: record.status === null ? null : JSON.stringify(record.status),
    private_state: record.privateState === null ? null : JSON.stringify(record.privateState),
    labels: JSON.stringify(record.labels),
    created_at: record.createdAt,
    updated_at: record.updatedAt,
    deleted_at: record.deletedAt,
  };
}

export function resourceRecordOf(row: Selectable<ResourceRow>): ResourceRecord {
  return {
    kind: row.kind,
    workspace: row.workspace,
    name: row.name,
    uid: row.uid,
    generation: row.generation,
    resourceVersion: row.resource_version,
    specVersion: row.spec_version,
    spec: JSON.parse(row.spec) as Json,
    status: row.status === null ? null : (JSON.parse(row.status) as Json),
    privateState: row.private_state === null ? null : (JSON.parse(row.private_state) as Json),
    labels: JSON.parse(row.labels) as Record<string, string>,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    deletedAt: row.deleted_at,
  };
}
