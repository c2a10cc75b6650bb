import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IntMap } from './int-map.js';

/** The smallest table: 16 places. */
const smallMap = () => new IntMap(1);

/** The preferred slot of a key in a table of 16 slots. */
const home = (key: number) => Math.imul(key, 0x9e3779b1) >>> 28;

/** The first keys from 0 on that want the same place of the smallest table. */
function keysAt(place: number, count: number): number[] {
  const keys: number[] = [];
  for (let key = 0; keys.length < count; key++) if (home(key) === place) keys.push(key);
  return keys;
}

describe('IntMap', () => {
  it('gives -1 for a key it does not hold', () => {
    expect(new IntMap().get(7)).toBe(-1);
  });

  it('keeps the latest value of a key and counts the key once', () => {
    const map = new IntMap();
    map.set(7, 1);
    map.set(7, 2);
    expect(map.get(7)).toBe(2);
    expect(map.size).toBe(1);
  });

  it('holds the smallest and the largest key and value', () => {
    const map = new IntMap();
    map.set(0, 2 ** 31 - 1);
    map.set(2 ** 31 - 1, 0);
    expect([map.get(0), map.get(2 ** 31 - 1)]).toEqual([2 ** 31 - 1, 0]);
  });

  it('returns whether a deleted key was there', () => {
    const map = new IntMap();
    map.set(7, 1);
    expect([map.delete(8), map.delete(7), map.delete(7)]).toEqual([false, true, false]);
    expect(map.size).toBe(0);
  });

  it('finds keys that wrapped around the end of the table after one of them is deleted', () => {
    const [first, second, third] = keysAt(15, 3) as [number, number, number];
    const [displaced] = keysAt(0, 1) as [number];
    const map = smallMap();
    for (const key of [first, second, third, displaced]) map.set(key, key + 1);
    map.delete(second);
    expect([first, second, third, displaced].map((key) => map.get(key))).toEqual([
      first + 1,
      -1,
      third + 1,
      displaced + 1,
    ]);
  });

  it('does not move a key in front of its home when the hole is before it', () => {
    const [before] = keysAt(15, 1) as [number];
    const [athome] = keysAt(0, 1) as [number];
    const map = smallMap();
    map.set(before, 1);
    map.set(athome, 2);
    map.delete(before);
    expect(map.get(athome)).toBe(2);
  });

  it('keeps everything when it grows', () => {
    const map = smallMap();
    for (let key = 0; key < 1000; key++) map.set(key * 3, key);
    expect(map.size).toBe(1000);
    for (let key = 0; key < 1000; key++) expect(map.get(key * 3)).toBe(key);
    expect(map.get(1)).toBe(-1);
  });

  it('is empty after clear, and can be used again', () => {
    const map = new IntMap(100);
    for (let key = 0; key < 100; key++) map.set(key, key);
    map.clear();
    expect([map.size, map.get(5)]).toEqual([0, -1]);
    map.set(5, 6);
    expect([map.size, map.get(5)]).toEqual([1, 6]);
  });

  it('behaves as Map for any order of sets and deletes', () => {
    // Few places of the table are homes, so that clusters form, wrap around and are torn apart.
    const crowded = fc.constantFrom(...keysAt(15, 6), ...keysAt(0, 4), ...keysAt(7, 4));
    const key = fc.oneof(crowded, fc.nat(40), fc.nat(2 ** 31 - 1));
    const action = fc.record({ kind: fc.constantFrom('set', 'set', 'delete'), key, value: fc.nat(2 ** 31 - 1) });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 80 }), (actions) => {
        const map = smallMap();
        const model = new Map<number, number>();
        for (const { kind, key: at, value } of actions) {
          if (kind === 'delete') {
            expect(map.delete(at)).toBe(model.delete(at));
          } else {
            map.set(at, value);
            model.set(at, value);
          }
          expect(map.size).toBe(model.size);
          for (const { key: any } of actions) expect(map.get(any)).toBe(model.get(any) ?? -1);
        }
      }),
    );
  });
});
