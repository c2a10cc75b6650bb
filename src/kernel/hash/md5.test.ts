import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { md5Head } from './md5.js';

function head(text: string): string {
  const out = new Uint32Array(2);
  md5Head(text, out);
  return Array.from(out, (word) => word.toString(16).padStart(8, '0')).join('');
}

it.each([
  ['', 'd41d8cd98f00b204'],
  ['a', '0cc175b9c0f1b6a8'],
  ['abc', '900150983cd24fb0'],
  ['message digest', 'f96b697d7cb7938d'],
  ['abcdefghijklmnopqrstuvwxyz', 'c3fcd3d76192e400'],
])('gives the published digest of %j', (text, expected) => {
  expect(head(text)).toBe(expected);
});

it('agrees with the platform for any text, of any length around its blocks', () => {
  const platform = (text: string) => createHash('md5').update(text).digest('hex').slice(0, 16);
  for (let length = 50; length < 200; length++) {
    const text = 'x☃'.repeat(length).slice(0, length);
    expect(head(text)).toBe(platform(text));
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      expect(head(text)).toBe(platform(text));
    }),
  );
});

it('reads half a surrogate pair as the platform does', () => {
  for (const text of ['a\ud83d', '\ude00b', '\ud83dx', '\ud83d\ud83d\ude00']) {
    expect(head(text)).toBe(createHash('md5').update(text).digest('hex').slice(0, 16));
  }
});
