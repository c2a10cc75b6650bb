import type { KeyRecord } from '../../store/keys/key-record.js';
import { hashKeySecret, makeKeySecret } from '../../store/keys/key-secret.js';
import { makeUid } from '../../store/resources/make-uid.js';

/** A key record with the fields that a test sets, and its secret. */
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
    grants: [],
    maxSloClass: null,
    role: 'none',
    limits: {},
    expiresAt: null,
    revokedAt: null,
    ...about,
  };
  return { record, text };
}
