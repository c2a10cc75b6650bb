import type { Selectable } from 'kysely';
import type { ResourceRow } from '../database/schema.js';

/** What a resource is called. */
export interface ResourceRef {
  readonly kind: string;
  /** Empty for kinds that belong to no workspace. */
  readonly workspace: string;
  readonly name: string;
}

export type Json = Readonly<Record<string, unknown>>;

/** A resource as it is stored. Secrets in its spec are sealed. Times are milliseconds since 1970. */
export interface ResourceRecord extends ResourceRef {
  /** Another one each time a resource of this name is made. */
  readonly uid: string;
  /** Grows by one with each change of the spec, and with nothing else. */
  readonly generation: number;
  /** Of the last change of anything about it. Versions grow over all resources of the store. */
  readonly resourceVersion: number;
  /** Of the last change that was not of its status. */
  readonly specVersion: number;
  readonly spec: Json;
  readonly status: Json | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Set when it has been deleted and what it stands for has not been taken down yet. */
  readonly deletedAt: number | null;
}

/** What has happened to a resource. `deleting`: it has been asked to go; `removed`: it is no more. */
export interface ResourceChange {
  readonly type: 'created' | 'changed' | 'status' | 'deleting' | 'removed';
  readonly version: number;
  /** As it is now, or as it last was. */
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
    labels: JSON.parse(row.labels) as Record<string, string>,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    deletedAt: row.deleted_at,
  };
}
