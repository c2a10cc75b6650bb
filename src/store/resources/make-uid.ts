import { randomBytes } from 'node:crypto';

const LENGTH = 12;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** The uid of a new resource: 62 random bits, so that collisions do not happen in practice; the store refuses one that does. */
export function makeUid(): string {
  // Bytes beyond the last whole alphabet would make its first letters more likely.
  const fair = 256 - (256 % ALPHABET.length);
  let uid = '';
  while (uid.length < LENGTH) {
    for (const byte of randomBytes(2 * LENGTH)) {
      if (byte < fair && uid.length < LENGTH) uid += ALPHABET[byte % ALPHABET.length];
    }
  }
  return uid;
}
