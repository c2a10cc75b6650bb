import { createHmac } from 'node:crypto';

/** Of an id in a recording: 66 bits in base64url. */
export const ID_CHARACTERS = 11;

/** What an id names: equal texts of different kinds have different ids. */
export type RecordedKind = 'block' | 'session' | 'request' | 'tenant' | 'class';

/**
 * What stands in a recording for something that must not: the same for the same text under the same key, and of no use to
 * a reader who guesses the text and has no key.
 */
export function recordedId(key: Buffer, kind: RecordedKind, what: string | Buffer): string {
  return createHmac('sha256', key).update(`${kind}\0`).update(what).digest('base64url').slice(0, ID_CHARACTERS);
}
