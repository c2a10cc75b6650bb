import fc from 'fast-check';
import { expect, it } from 'vitest';
import { xxhash64 } from './xxhash64.js';

function hash(text: string): string {
  const out = new Uint32Array(2);
  xxhash64(text, out);
  return Array.from(out, (word) => word.toString(16).padStart(8, '0')).join('');
}

it.each([
  ['', 'ef46db3751d8e999'],
  ['a', 'd24ec4f1a98c6e5b'],
  ['as', '1c330fb2d66be179'],
  ['asd', '631c37ce72a97393'],
  ['asdf', '415872f599cea71e'],
  ['abc', '44bc2cf5ad770999'],
  ['Call me Ishmael. Some years ago--never mind how long precisely-', '02a2e85470d6fd96'],
])('gives the published hash of %j', (text, expected) => {
  expect(hash(text)).toBe(expected);
});

const MASK = (1n << 64n) - 1n;
const [P1, P2, P3, P4, P5]: [bigint, bigint, bigint, bigint, bigint] = [
  0x9e3779b185ebca87n,
  0xc2b2ae3d27d4eb4fn,
  0x165667b19e3779f9n,
  0x85ebca77c2b2ae63n,
  0x27d4eb2f165667c5n,
];
const rotated = (x: bigint, bits: bigint) => ((x << bits) | (x >> (64n - bits))) & MASK;
const round = (lane: bigint, input: bigint) => (rotated((lane + input * P2) & MASK, 31n) * P1) & MASK;

/** The algorithm as its description has it, in big integers. */
function plain(text: string): string {
  const bytes = Buffer.from(text);
  let at = 0;
  let h = P5;
  if (bytes.length >= 32) {
    const lanes = [(P1 + P2) & MASK, P2, 0n, (MASK + 1n - P1) & MASK];
    for (; at + 32 <= bytes.length; at += 32) {
      for (let i = 0; i < 4; i++) lanes[i] = round(lanes[i]!, bytes.readBigUInt64LE(at + i * 8));
    }
    h = [1n, 7n, 12n, 18n].reduce((sum, bits, i) => (sum + rotated(lanes[i]!, bits)) & MASK, 0n);
    for (const lane of lanes) h = ((h ^ round(0n, lane)) * P1 + P4) & MASK;
  }
  h = (h + BigInt(bytes.length)) & MASK;
  for (; at + 8 <= bytes.length; at += 8) {
    h = (rotated(h ^ round(0n, bytes.readBigUInt64LE(at)), 27n) * P1 + P4) & MASK;
  }
  if (at + 4 <= bytes.length) {
    h = (rotated(h ^ ((BigInt(bytes.readUInt32LE(at)) * P1) & MASK), 23n) * P2 + P3) & MASK;
    at += 4;
  }
  for (; at < bytes.length; at++) h = (rotated(h ^ ((BigInt(bytes[at]!) * P5) & MASK), 11n) * P1) & MASK;
  h = ((h ^ (h >> 33n)) * P2) & MASK;
  h = ((h ^ (h >> 29n)) * P3) & MASK;
  return (h ^ (h >> 32n)).toString(16).padStart(16, '0');
}

it('matches the description of the algorithm, for any text', () => {
  for (let length = 0; length < 140; length++) expect(hash('ab☃'.repeat(length))).toBe(plain('ab☃'.repeat(length)));
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      expect(hash(text)).toBe(plain(text));
    }),
  );
});
