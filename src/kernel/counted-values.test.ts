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

  it('is exact for values too far apart to be counted into bins', () => {
    const values = counted([
      [2 ** 40, 3],
      [0, 1],
      [2 ** 40 - 1, 2 ** 31 - 1],
    ]);
    expect([0, 1, 2 ** 31 - 1, 2 ** 31].map((i) => values.at(i))).toEqual([0, 2 ** 40 - 1, 2 ** 40 - 1, 2 ** 40]);
    expect(values.total).toBe(2 ** 31 + 3);
  });

  it('equals the written-out list', () => {
    const pair = fc.tuple(fc.oneof(fc.nat(9), fc.nat(70_000), fc.nat(2 ** 32 - 1)), fc.nat(5));
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
