import type { KeyRecord } from '../../store/keys/key-record.js';
import { hashKeyText, makeKeyId, makeKeyText } from '../../store/keys/key-text.js';

/** A key with what a test cares about, and its text. */
export function madeKey(about: Partial<KeyRecord> = {}): { record: KeyRecord; text: string } {
  const id = about.id ?? makeKeyId();
  const text = makeKeyText(id);
  const record: KeyRecord = {
    id,
    name: 'a key',
    hash: hashKeyText(text),
    previousHash: null,
    previousUntil: null,
    hint: text.slice(-4),
    tenant: 'a tenant',
    models: null,
    maxSloClass: null,
    role: 'none',
    limits: {},
    createdAt: 0,
    expiresAt: null,
    revokedAt: null,
    ...about,
  };
  return { record, text };
}
