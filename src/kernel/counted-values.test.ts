import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CountedValues } from './counted-values.js';

function counted(pairs: readonly (readonly [value: number, count: number])[]): CountedValues {
  const values = new CountedValues();
  for (const [value, count] of pairs) values.add(value, count);
  return values;
}

const entries = (values: CountedValues) => Array.from({ length: values.total }, (_, i) => values.at(i));

describe('CountedValues', () => {
  it('equals the sorted list with every value repeated', () => {
    const values = counted([
      [30, 1],
      [10, 3],
      [20, 2],
    ]);
    expect(entries(values)).toEqual([10, 10, 10, 20, 20, 30]);
    expect([values.total, values.sum]).toEqual([6, 100]);
  });

  it('adds up the counts of a value that is given several times', () => {
    const values = counted([
      [5, 2],
      [7, 1],
      [5, 1],
    ]);
    expect(entries(values)).toEqual([5, 5, 5, 7]);
  });

  it('has no entries without values', () => {
    expect([counted([]).total, counted([]).sum]).toEqual([0, 0]);
  });

  it('is exact for large values and counts', () => {
    const values = counted([
      [2 ** 40, 3],
      [0, 1],
      [2 ** 40 - 1, 2 ** 31 - 1],
    ]);
    expect([0, 1, 2 ** 31 - 1, 2 ** 31].map((i) => values.at(i))).toEqual([0, 2 ** 40 - 1, 2 ** 40 - 1, 2 ** 40]);
    expect(values.total).toBe(2 ** 31 + 3);
  });

  it('can be added to after a lookup', () => {
    const values = counted([
      [5, 1],
      [300_000, 1],
    ]);
    expect(values.at(0)).toBe(5);
    values.add(3, 1);
    values.add(250_000, 1);
    expect(entries(values)).toEqual([3, 5, 250_000, 300_000]);
  });

  it('refuses entries beyond its end', () => {
    expect(() => counted([[5, 1]]).at(1)).toThrow(RangeError);
  });

  it('adds all of another, which stays unchanged', () => {
    const one = counted([
      [5, 2],
      [400_000, 1],
    ]);
    const other = counted([
      [5, 1],
      [9000, 1],
      [400_000, 1],
      [500_000, 1],
    ]);
    expect(one.at(0)).toBe(5);
    one.addAll(other);
    expect(entries(one)).toEqual([5, 5, 5, 9000, 400_000, 400_000, 500_000]);
    expect([one.total, one.sum]).toEqual([7, 15 + 9000 + 800_000 + 500_000]);
    expect(other.total).toBe(4);
  });

  it('equals the written-out list', () => {
    const pair = fc.tuple(
      fc.oneof(fc.nat(9), fc.nat(70_000), fc.integer({ min: 262_100, max: 262_200 }), fc.nat(2 ** 32 - 1)),
      fc.nat(5),
    );
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 30 }), (pairs) => {
        const list = pairs.flatMap(([value, count]) => Array<number>(count).fill(value)).sort((a, b) => a - b);
        const values = counted(pairs);
        expect(entries(values)).toEqual(list);
        expect(values.sum).toBe(list.reduce((a, b) => a + b, 0));
      }),
    );
  });
});
