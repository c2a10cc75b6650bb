import { createHash } from 'node:crypto';
import { expect } from 'vitest';

/** Private values of a client that only the replica may read. Each contains a word of its own to search for. */
export const PLANTED = {
  /** A key as the gateway makes them: its id is public, its secret is not. */
  key: 'ty_plantedkey01_sEcrEtOfThePlantedKey0123456789abcdefghijkA',
  prompt: 'the planted prompt speaks of marzipan and quicksilver',
  header: 'planted-header-value-heliotrope',
  session: 'planted-session-periwinkle',
  user: 'planted-user-ottoline@example.org',
} as const;

/** Headers that carry the planted values; a gateway that requires keys needs a real key in place of the planted one. */
export function plantedHeaders(key: string = PLANTED.key): Record<string, string> {
  return {
    authorization: `Bearer ${key}`,
    'x-session-id': PLANTED.session,
    'x-planted': PLANTED.header,
    cookie: `planted=${PLANTED.header}`,
  };
}

/** The body of a chat completion that carries the planted values. */
export function plantedBody(model: string): Record<string, unknown> {
  return { model, messages: [{ role: 'user', content: PLANTED.prompt }], user: PLANTED.user, max_tokens: 4 };
}

/**
 * Asserts that no planted value is in any of the named texts: not verbatim, not as hex, base64 or URL-encoded and,
 * except for the key, whose hash the store keeps, not as a plain hash either, which would confirm a guess.
 * @param key another key whose secret must not be there
 * @param allowed what may be there all the same
 */
export function expectNowhere(
  texts: Readonly<Record<string, string>>,
  key: string = PLANTED.key,
  allowed: readonly (keyof typeof PLANTED)[] = [],
): void {
  // The first two parts of a key are no secret.
  const all = { ...PLANTED, key: key.split('_').slice(2).join('_') };
  const secrets = Object.fromEntries(Object.entries(all).filter(([what]) => !(allowed as string[]).includes(what)));
  for (const [place, text] of Object.entries(texts)) {
    const lower = text.toLowerCase();
    for (const [what, secret] of Object.entries(secrets)) {
      for (const [form, packed] of formsOf(secret, what !== 'key')) {
        expect(lower.includes(packed.toLowerCase()), `${place} holds the planted ${what} as ${form}`).toBe(false);
      }
    }
  }
}

function formsOf(secret: string, hashed: boolean): [form: string, text: string][] {
  const bytes = Buffer.from(secret);
  const forms: [string, string][] = [
    ['it is', secret],
    ['a URL', encodeURIComponent(secret)],
    ['JSON', JSON.stringify(secret).slice(1, -1)],
    ['hex', bytes.toString('hex')],
    // Inside something longer it may begin at any of three places; first and last characters then depend on what is
    // beside it.
    ...[0, 1, 2].map((skipped): [string, string] => [
      'base64',
      Buffer.concat([Buffer.alloc(skipped), bytes])
        .toString('base64url')
        .slice(4, -4),
    ]),
  ];
  if (hashed) {
    for (const algorithm of ['md5', 'sha1', 'sha256']) {
      const hash = createHash(algorithm).update(bytes).digest();
      // A shortened hash keeps its beginning.
      forms.push([algorithm, hash.toString('hex').slice(0, 12)], [algorithm, hash.toString('base64url').slice(0, 10)]);
    }
  }
  return forms;
}
