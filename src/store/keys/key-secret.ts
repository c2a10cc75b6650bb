import { createHash, randomBytes } from 'node:crypto';

/** What every secret begins with. */
export const KEY_PREFIX = 'ty_';
/** `ty_<id>_<random>`: the id is the uid of the ApiKey, the rest proves it. */
const RANDOM_BYTES = 32;
const HINT_LENGTH = 4;
const KEY_SECRET = /^ty_([a-z0-9]{12})_([A-Za-z0-9_-]{43})$/;

/** A new secret for the key `id`. It is returned once and stored nowhere. */
export function makeKeySecret(id: string): string {
  return `${KEY_PREFIX}${id}_${randomBytes(RANDOM_BYTES).toString('base64url')}`;
}

/** The id in a string that has the form of a secret; null for anything else. */
export function keyIdIn(secret: string): string | null {
  return KEY_SECRET.exec(secret)?.[1] ?? null;
}

/** What is stored in place of the secret. It has 256 random bits: nothing slower than SHA-256 would add anything. */
export function hashKeySecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

export function keyHint(secret: string): string {
  return secret.slice(-HINT_LENGTH);
}
