import { createHash, randomBytes } from 'node:crypto';

/** `ty_<id>_<random>`: the id names the key, the random part proves it. */
const ID_LENGTH = 12;
const SECRET_BYTES = 32;
const HINT_LENGTH = 4;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const KEY_TEXT = /^ty_([a-z0-9]{12})_([A-Za-z0-9_-]{43})$/;

/** A new id: 62 random bits, so collisions do not happen in practice; the store refuses one. */
export function makeKeyId(): string {
  // Bytes beyond the last whole alphabet would make its first letters likelier.
  const fair = 256 - (256 % ALPHABET.length);
  let id = '';
  while (id.length < ID_LENGTH) {
    for (const byte of randomBytes(2 * ID_LENGTH)) {
      if (byte < fair && id.length < ID_LENGTH) id += ALPHABET[byte % ALPHABET.length];
    }
  }
  return id;
}

/** A new secret for the key `id`. It is shown once and never stored. */
export function makeKeyText(id: string): string {
  return `ty_${id}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
}

/** The id in a text that has the form of a secret; null for anything else. */
export function keyIdOf(text: string): string | null {
  return KEY_TEXT.exec(text)?.[1] ?? null;
}

/** What is stored instead of the secret. It has 256 random bits: a slower hash than SHA-256 would add nothing. */
export function hashKeyText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function keyHint(text: string): string {
  return text.slice(-HINT_LENGTH);
}
