import { type KeySpec, keySettingsOf } from '../../store/keys/key-schema.js';
import type { Keys } from '../../store/keys/keys.js';
import { deletingResource, unknownResource } from '../../store/resources/resource-errors.js';
import type { ResourceRef } from '../../store/resources/resource-record.js';
import type { Resource } from '../resources/resource.js';
import type { ControlStore } from './control-store.js';

export interface Issued {
  readonly id: string;
  /** The secret; it is not stored. */
  readonly text: string;
}

/**
 * Issues a new secret for an ApiKey; the one before is no longer accepted. It is returned only after the audit log has the entry.
 */
export async function issueKey(store: ControlStore, keys: Keys, ref: ResourceRef, actor: string): Promise<Issued> {
  const resource = await store.get(ref);
  if (resource === null) throw unknownResource(ref);
  if (resource.metadata.deleted_at !== undefined) throw deletingResource(ref);
  const settings = keyOf(ref, resource);
  const known = await keyIdOf(keys, ref, resource);
  // Before it has a valid secret: the key found under the name may have had wider settings.
  if (known !== null) await keys.update(known, settings);
  const { key, text } = known === null ? await keys.create(settings) : await keys.rotate(known, null);
  await store.actOn(actor, 'issue', ref, resource.metadata.uid!, statusOf(resource, key.id, key.hint));
  return { id: key.id, text };
}

/**
 * Copies the settings of an ApiKey to its stored key, or revokes the key of a deleted one. An ApiKey without a secret is left
 * alone. Called after every change, and again after a failure: it does what is left to do.
 */
export async function syncKey(store: ControlStore, keys: Keys, ref: ResourceRef): Promise<void> {
  const resource = await store.get(ref);
  if (resource === null) return;
  const id = await keyIdOf(keys, ref, resource);
  if (resource.metadata.deleted_at !== undefined) {
    if (id !== null) await keys.revoke(id);
    await store.remove(ref, resource.metadata.uid!);
    return;
  }
  if (id === null || resource.status?.observed_generation === resource.metadata.generation) return;
  const { hint } = await keys.update(id, keyOf(ref, resource));
  await store.putStatus(ref, resource.metadata.uid!, statusOf(resource, id, hint));
}

/** The name is a tenant of its own unless the spec names one. */
const keyOf = ({ name, workspace }: ResourceRef, { spec }: Resource) => ({
  tenant: name,
  ...keySettingsOf(`${workspace}/${name}`, spec as unknown as KeySpec),
});

/**
 * The key of a resource: the one of its status, or one created just before a crash, whose secret was never returned. Null when
 * there is none, or when it has been revoked.
 */
async function keyIdOf(keys: Keys, ref: ResourceRef, { metadata, status }: Resource): Promise<string | null> {
  if (typeof status?.key_id === 'string') {
    const key = await keys.get(status.key_id);
    return key === null || key.revokedAt !== null ? null : key.id;
  }
  const called = `${ref.workspace}/${ref.name}`;
  const since = Date.parse(metadata.created_at!);
  const found = (await keys.list()).find(
    ({ createdAt, name, revokedAt }) => name === called && revokedAt === null && createdAt >= since,
  );
  return found?.id ?? null;
}

const statusOf = ({ metadata }: Resource, key_id: string, hint: string) => ({
  phase: 'Active',
  observed_generation: metadata.generation,
  key_id,
  hint,
});
