import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IdNumbers } from './id-numbers.js';

describe('IdNumbers', () => {
  it('numbers ids in order of appearance, as a map would', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 3 }), { maxLength: 200 }), (ids) => {
        const numbers = new IdNumbers();
        const known = new Map<string, number>();
        for (const id of ids) {
          if (!known.has(id)) known.set(id, known.size);
          expect(numbers.of(id)).toBe(known.get(id));
        }
        expect(numbers.size).toBe(known.size);
      }),
    );
  });

  it('distinguishes many ids that are almost the same', () => {
    const numbers = new IdNumbers();
    const ids = Array.from({ length: 200_000 }, (_, i) => `block-${i}`);
    expect(ids.map((id) => numbers.of(id))).toEqual(ids.map((_, i) => i));
    expect([numbers.of('block-0'), numbers.of('block-199999'), numbers.of('')]).toEqual([0, 199_999, 200_000]);
  });
});
