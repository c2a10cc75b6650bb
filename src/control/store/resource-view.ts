import type { ResourceRecord, ResourceRef } from '../../store/resources/resource-record.js';
import { withoutSealed } from '../../store/resources/secrets.js';
import type { Metadata, Resource, Status } from '../resources/resource.js';
import { API_VERSION } from '../resources/resource.js';

/** A resource for output, with stars in place of secrets. */
export function resourceView(record: ResourceRecord): Resource {
  const {
    createdAt,
    deletedAt,
    generation,
    kind,
    labels,
    name,
    resourceVersion,
    spec,
    status,
    uid,
    updatedAt,
    workspace,
  } = record;
  const metadata: Metadata = {
    name,
    ...(workspace === '' ? {} : { workspace }),
    labels,
    uid,
    generation,
    resource_version: resourceVersion,
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
    ...(deletedAt === null ? {} : { deleted_at: new Date(deletedAt).toISOString() }),
  };
  return {
    apiVersion: API_VERSION,
    kind,
    metadata,
    spec: withoutSealed(spec) as Record<string, unknown>,
    ...(status === null ? {} : { status: status as unknown as Status }),
  };
}

export function refOf({ kind, metadata }: Pick<Resource, 'kind' | 'metadata'>): ResourceRef {
  return { kind, workspace: metadata.workspace ?? '', name: metadata.name };
}
