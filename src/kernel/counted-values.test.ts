import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CountedValues } from './counted-values.js';

function counted(pairs: readonly (readonly [value: number, count: number])[]): CountedValues {
  return new CountedValues(
    Float64Array.from(pairs, ([value]) => value),
    Int32Array.from(pairs, ([, count]) => count),
  );
}

const entries = (values: CountedValues) => Array.from({ length: values.total }, (_, i) => values.at(i));

describe('CountedValues', () => {
  it('stands for the sorted list with every value repeated', () => {
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

  it('is exact up to the greatest value and count that fit', () => {
    const value = 2 ** 32 - 1;
    const count = 2 ** 20 - 1;
    expect([
      CountedValues.fits(value, count),
      CountedValues.fits(value + 1, 1),
      CountedValues.fits(1, count + 1),
    ]).toEqual([true, false, false]);
    const values = counted([
      [value, count],
      [value - 1, 1],
    ]);
    expect([values.at(0), values.at(1), values.at(count), values.total]).toEqual([value - 1, value, value, 2 ** 20]);
    expect(values.sum).toBe(value * count + value - 1);
  });

  it('equals the written-out list', () => {
    const pair = fc.tuple(fc.oneof(fc.nat(9), fc.nat(2 ** 32 - 1)), fc.nat(5));
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
