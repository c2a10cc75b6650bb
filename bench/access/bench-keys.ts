import type { KeyRecord } from '../../src/store/keys/key-record.js';
import { hashKeyText, makeKeyId, makeKeyText } from '../../src/store/keys/key-text.js';

/** As many as a large installation has. */
export const KEYS = 10_000;

export const ids = Array.from({ length: KEYS }, makeKeyId);
export const texts = ids.map(makeKeyText);
export const records = ids.map((id, i) => recordOf(id, texts[i]!));

function recordOf(id: string, text: string): KeyRecord {
  return {
    id,
    name: id,
    hash: hashKeyText(text),
    previousHash: null,
    previousUntil: null,
    hint: '',
    tenant: id,
    models: null,
    maxSloClass: null,
    role: 'none',
    limits: {},
    createdAt: 0,
    expiresAt: null,
    revokedAt: null,
  };
}
