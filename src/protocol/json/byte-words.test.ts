import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterPlain, hasBackslash, viewOf } from './byte-words.js';

const isPlain = (byte: number) => byte >= 0x20 && byte !== 0x22 && byte !== 0x5c;
/** Mostly text, with every other byte now and then. */
const byte = fc.oneof({ weight: 20, arbitrary: fc.integer({ min: 0x23, max: 0x7e }) }, fc.nat(255));

describe('afterPlain', () => {
  it('finds the first byte that ends a run of text, as looking at each byte would', () => {
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 60 }), fc.nat(7), fc.nat(60), (given, from, less) => {
        // A view that begins anywhere in its memory.
        const bytes = Buffer.from([1, 2, 3, ...given]).subarray(3);
        const to = Math.max(from, given.length - less);
        let wanted = Math.min(from, to);
        while (wanted < to && isPlain(bytes[wanted]!)) wanted++;
        if (from <= given.length) expect(afterPlain(viewOf(bytes), from, Math.min(to, given.length))).toBe(wanted);
      }),
      { numRuns: 3000 },
    );
  });

  it('stops at each byte that ends a run, wherever in a word it is, and at no other', () => {
    for (let place = 0; place < 16; place++) {
      for (let value = 0; value < 256; value++) {
        const bytes = Buffer.alloc(24, 'a');
        bytes[place] = value;
        expect(afterPlain(viewOf(bytes), 0, 24)).toBe(isPlain(value) ? 24 : place);
      }
    }
  });
});

it('a word has a backslash exactly when one of its bytes is one', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.nat(255), fc.constantFrom(0x5b, 0x5c, 0x5d, 0xdc)), { minLength: 4, maxLength: 4 }),
      (four) => {
        expect(hasBackslash(Buffer.from(four).readInt32LE(0))).toBe(four.includes(0x5c));
      },
    ),
    { numRuns: 3000 },
  );
});
