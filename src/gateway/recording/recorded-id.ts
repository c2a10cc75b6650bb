import { createHmac } from 'node:crypto';

/** Of an id in a recording: 66 bits in base64url. */
export const ID_CHARACTERS = 11;

/** What an id names: equal texts of different kinds have different ids. */
export type RecordedKind = 'block' | 'session' | 'request' | 'tenant' | 'class';

/**
 * The keyed hash that a recording has instead of a private text: the same for the same text under the same key. A
 * reader without the key cannot confirm a guess.
 */
export function recordedId(key: Buffer, kind: RecordedKind, what: string | Buffer): string {
  return createHmac('sha256', key).update(`${kind}\0`).update(what).digest('base64url').slice(0, ID_CHARACTERS);
}
