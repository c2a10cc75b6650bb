import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makeUid } from '../resources/make-uid.js';
import { hashKeySecret, keyHint, keyIdIn, makeKeySecret } from './key-secret.js';

const SECRET = 'AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCdE';

describe('a key secret', () => {
  it('holds the id of the key and is never the same twice', () => {
    const texts = new Set<string>();
    for (let i = 0; i < 200; i++) {
      const id = makeUid();
      const text = makeKeySecret(id);
      expect(text).toMatch(/^ty_[a-z0-9]{12}_[A-Za-z0-9_-]{43}$/);
      expect(keyIdIn(text)).toBe(id);
      texts.add(text).add(id);
    }
    expect(texts.size).toBe(400);
  });

  it('uses every character of an id about equally often', () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < 3000; i++) for (const letter of makeUid()) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    expect(counts.size).toBe(36);
    // 1,000 each on average, give or take 31: ten times that is beyond chance.
    for (const [letter, count] of counts) expect(Math.abs(count - 1000), letter).toBeLessThan(310);
  });

  it.each([
    ['', null],
    [`ty_abcdefghij12_${SECRET}`, 'abcdefghij12'],
    [`ty_abcdefghij12_${SECRET}x`, null],
    [`ty_abcdefghij12_${SECRET}\n`, null],
    [` ty_abcdefghij12_${SECRET}`, null],
    [`ty_abcdefghij1_${SECRET}`, null],
    [`ty_ABCDEFGHIJ12_${SECRET}`, null],
    [`sk_abcdefghij12_${SECRET}`, null],
    [`ty_abcdefghij12_${SECRET.slice(1)}+`, null],
  ])('%j has the id %j', (text, id) => {
    expect(keyIdIn(text)).toBe(id);
  });

  it('is stored as its SHA-256, with the last four characters as a hint', () => {
    const text = `ty_abcdefghij12_${SECRET}`;
    expect(hashKeySecret(text)).toBe(createHash('sha256').update(Buffer.from(text)).digest('hex'));
    expect(keyHint(text)).toBe('AbCdE'.slice(1));
  });
});
