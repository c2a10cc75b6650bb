import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { expectNowhere, PLANTED, plantedBody, plantedHeaders } from './planted-secrets.js';

describe('what is planted', () => {
  test('is all in a request', () => {
    const request = JSON.stringify([plantedHeaders(), plantedBody('m')]);
    for (const secret of Object.values(PLANTED)) expect(request).toContain(secret);
  });

  const packed: [string, (secret: string) => string][] = [
    ['as it is', (secret) => secret],
    ['in other letters', (secret) => secret.toUpperCase()],
    ['in JSON', (secret) => JSON.stringify({ deep: [`x${secret}y`] })],
    ['in a URL', (secret) => new URL(`http://h/?q=${encodeURIComponent(secret)}`).href],
    ['as hex', (secret) => Buffer.from(secret).toString('hex')],
    ...['', 'a', 'ab'].map((before): [string, (secret: string) => string] => [
      `as base64 behind '${before}'`,
      (secret) => Buffer.from(`${before}${secret}more`).toString('base64url'),
    ]),
  ];
  test.each(packed)('is found %s', (_, pack) => {
    for (const secret of [...Object.values(PLANTED), PLANTED.key.split('_')[2]!]) {
      expect(() => expectNowhere({ log: `before ${pack(secret)} after` })).toThrow('log holds the planted');
    }
  });

  test('is found as a plain hash, but for the key', () => {
    const hash = (secret: string) => createHash('sha256').update(secret).digest('hex');
    for (const [what, secret] of Object.entries(PLANTED)) {
      const look = () => expectNowhere({ store: hash(secret) });
      if (what === 'key') look();
      else expect(look).toThrow(`store holds the planted ${what} as sha256`);
    }
  });

  test('is not found where it is not', () => {
    expectNowhere({ log: 'a key plantedkey01, a session, a user and a prompt', other: '' });
  });

  test('may be another key', () => {
    const key = 'ty_abcdefghijkl_AbC-dEf_gHiJkLmNoPqRsTuVwXyZ0123456789abcde';
    expect(() => expectNowhere({ log: 'AbC-dEf_gHiJkLmNoPqRsTuVwXyZ0123456789abcde' }, key)).toThrow('planted key');
    expectNowhere({ log: 'abcdefghijkl' }, key);
  });
});
