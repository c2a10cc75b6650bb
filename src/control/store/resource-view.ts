import { API_KEY, type KeyStatus, keyPhase } from '../../store/keys/key-record.js';
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
    ...(kind === API_KEY
      ? { status: keyStatus(record) }
      : status === null
        ? {}
        : { status: status as unknown as Status }),
  };
}

/** Computed when it is shown: a key expires without anything being written. */
function keyStatus(record: ResourceRecord): Status {
  const phase = keyPhase(record, Date.now());
  const { hint, previous_until, revoked_at } = (record.status ?? {}) as KeyStatus;
  return {
    phase,
    message: phase === 'Pending' ? 'no secret has been issued yet' : '',
    observed_generation: record.generation,
    conditions: [],
    ...(hint === undefined ? {} : { hint }),
    ...(previous_until === undefined || Date.parse(previous_until) <= Date.now() ? {} : { previous_until }),
    ...(revoked_at === undefined ? {} : { revoked_at }),
  };
}

export function refOf({ kind, metadata }: Pick<Resource, 'kind' | 'metadata'>): ResourceRef {
  return { kind, workspace: metadata.workspace ?? '', name: metadata.name };
}
