import { generateKeyPair } from 'jose';
import * as v from 'valibot';
import { expect, it, onTestFinished } from 'vitest';
import { ApiError } from '../../../protocol/errors.js';
import { JWT_SCHEMA } from '../../config/jwt-schema.js';
import { AccessKey } from '../keys/access-key.js';
import { FakeIssuer } from './fake-issuer.fixture.js';
import { TokenRing } from './token-ring.js';

let nowMs = 1_800_000_000_000;

async function started() {
  const issuer = new FakeIssuer();
  issuer.nowMs = () => nowMs;
  await issuer.start();
  onTestFinished(() => issuer.stop());
  await issuer.add('rsa', 'RS256');
  const config = v.parse(JWT_SCHEMA, { issuer: issuer.url, audience: ['twinyard'], rules: [{ workspace: 'a' }] });
  const ring = new TokenRing({ config, nowMs: () => nowMs, prepare: async (record) => new AccessKey(record) });
  /** The subject's id, or why the token is refused. */
  const found = async (token: string) => {
    if (ring.known(token) === null) await ring.verify(token);
    const known = ring.known(token)!;
    return known instanceof ApiError ? known.message : known.id;
  };
  return { issuer, ring, found };
}

const NO_KEY = 'The token was refused: the issuer has no such key.';

it('verifies a token once until it expires, and at least every five minutes', async () => {
  const { found, issuer, ring } = await started();
  const [long, short] = [await issuer.signed(), await issuer.signed({ exp: nowMs / 1000 + 60 })];
  for (let i = 0; i < 5; i++) expect([await found(long), await found(short)]).toEqual(['jwt/a/ann', 'jwt/a/ann']);
  expect(ring.verified).toBe(2);
  nowMs += 91_000;
  expect(await found(short)).toBe('The token was refused: it has expired.');
  expect([await found(long), ring.verified]).toEqual(['jwt/a/ann', 3]);
  nowMs += 210_000;
  expect([await found(long), ring.verified]).toEqual(['jwt/a/ann', 4]);
});

it('verifies a token that many requests bring at once only once', async () => {
  const { issuer, ring } = await started();
  const token = await issuer.signed();
  await Promise.all(Array.from({ length: 50 }, () => ring.verify(token)));
  expect([ring.verified, issuer.fetches, ring.known(token)]).toEqual([1, 1, expect.any(AccessKey)]);
});

it('remembers a bounded number of wrong tokens, which take no place from verified ones', async () => {
  const { found, issuer, ring } = await started();
  const token = await issuer.signed();
  await found(token);
  for (let i = 0; i < 20_200; i += 200) {
    await Promise.all(Array.from({ length: 200 }, (_, n) => ring.verify(`eyJ.${i + n}.x`)));
  }
  expect(ring.size).toBe(1001);
  expect(ring.known(token)).toBeInstanceOf(AccessKey);
});

it('verifies a bounded number of tokens at a time', async () => {
  const { ring } = await started();
  const all = Array.from({ length: 1500 }, (_, n) => ring.verify(`eyJ.${n}.x`));
  expect(ring.verified).toBe(1000);
  await Promise.all(all);
  expect([ring.known('eyJ.999.x'), ring.known('eyJ.1000.x')]).toEqual([expect.any(ApiError), null]);
});

it('forgets tokens that have expired, and returns whose the others are', async () => {
  const { found, issuer, ring } = await started();
  await found(await issuer.signed({ exp: nowMs / 1000 + 60 }));
  await found(await issuer.signed({ sub: 'bob' }));
  expect([...ring.sweep()].sort()).toEqual(['jwt/a/ann', 'jwt/a/bob']);
  nowMs += 91_000;
  expect([...ring.sweep(), ring.size]).toEqual(['jwt/a/bob', 1]);
});

it('reads the keys again for one that is not known, and no more often than every 10 seconds', async () => {
  const { found, issuer } = await started();
  expect(await found(await issuer.signed())).toBe('jwt/a/ann');
  await issuer.add('next', 'ES256');
  const early = await issuer.signed({ jti: 'early' }, 'next');
  expect([await found(early), issuer.fetches]).toEqual([NO_KEY, 1]);
  nowMs += 10_000;
  expect([await found(await issuer.signed({}, 'next')), issuer.fetches]).toEqual(['jwt/a/ann', 2]);
  expect(await found(early)).toBe('jwt/a/ann');
  const { privateKey } = await generateKeyPair('ES256');
  for (let i = 0; i < 30; i++) {
    expect(await found(await issuer.signedBy(privateKey, { alg: 'ES256', kid: `unknown-${i}` }))).toBe(NO_KEY);
  }
  expect(issuer.fetches).toBe(2);
});

it('accepts a withdrawn key no more, also by tokens that were verified', async () => {
  const { found, issuer, ring } = await started();
  await issuer.add('next', 'EdDSA');
  const token = await issuer.signed({}, 'next');
  expect(await found(token)).toBe('jwt/a/ann');
  issuer.signers.delete('next');
  nowMs += 300_000;
  // The first one makes the keys be read again.
  await found(await issuer.signed());
  while (ring.keys.fetches < 2 || ring.keys.isFetching) await new Promise(setImmediate);
  expect(await found(token)).toBe(NO_KEY);
});

it('keeps the last keys while the issuer does not respond', async () => {
  const { found, issuer, ring } = await started();
  expect(await found(await issuer.signed())).toBe('jwt/a/ann');
  issuer.isDown = true;
  for (const waited of [11_000, 400_000, 3_000_000]) {
    nowMs += waited;
    expect(await found(await issuer.signed())).toBe('jwt/a/ann');
    while (ring.keys.isFetching) await new Promise(setImmediate);
  }
  expect(ring.keys.failures).toBe(2);
});
