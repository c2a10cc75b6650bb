import { createHash, randomBytes } from 'node:crypto';

/** `ty_<id>_<secret>`: the id names the key, the secret proves it. */
const ID_LENGTH = 12;
const SECRET_BYTES = 32;
const HINT_LENGTH = 4;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const KEY_TEXT = /^ty_([a-z0-9]{12})_([A-Za-z0-9_-]{43})$/;

/** A new id: 62 random bits, so that two are never alike in practice; the store refuses the one that is. */
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

/** A new text for the key `id`. It is shown once and kept nowhere. */
export function makeKeyText(id: string): string {
  return `ty_${id}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
}

/** The id in a text that has the form of a key; null for anything else. */
export function keyIdOf(text: string): string | null {
  return KEY_TEXT.exec(text)?.[1] ?? null;
}

/** What is stored instead of the text. The secret has 256 random bits: nothing slower than SHA-256 would add anything. */
export function hashKeyText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function keyHint(text: string): string {
  return text.slice(-HINT_LENGTH);
}
