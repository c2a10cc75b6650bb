import type { KeyRecord } from '../../src/store/keys/key-record.js';
import { hashKeySecret, makeKeySecret } from '../../src/store/keys/key-secret.js';
import { makeUid } from '../../src/store/resources/make-uid.js';

/** The number of keys of a large installation. */
export const KEYS = 10_000;

export const ids = Array.from({ length: KEYS }, makeUid);
export const texts = ids.map(makeKeySecret);
export const records = ids.map((id, i) => recordOf(id, texts[i]!));

function recordOf(id: string, text: string): KeyRecord {
  return {
    id,
    workspace: 'default',
    name: id,
    hash: hashKeySecret(text),
    previousHash: null,
    previousUntil: null,
    tenant: id,
    models: null,
    grants: [],
    maxSloClass: null,
    role: 'none',
    limits: {},
    expiresAt: null,
    revokedAt: null,
  };
}
