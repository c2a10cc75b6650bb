import type { KeyRecord } from '../../store/keys/key-record.js';
import { hashKeySecret, makeKeySecret } from '../../store/keys/key-secret.js';
import { makeUid } from '../../store/resources/make-uid.js';

/** A key with what a test cares about, and its text. */
export function madeKey(about: Partial<KeyRecord> = {}): { record: KeyRecord; text: string } {
  const id = about.id ?? makeUid();
  const text = makeKeySecret(id);
  const record: KeyRecord = {
    id,
    workspace: 'default',
    name: 'a-key',
    hash: hashKeySecret(text),
    previousHash: null,
    previousUntil: null,
    tenant: 'a tenant',
    models: null,
    maxSloClass: null,
    role: 'none',
    limits: {},
    expiresAt: null,
    revokedAt: null,
    ...about,
  };
  return { record, text };
}
