import fc from 'fast-check';
import { expect, it } from 'vitest';
import { paretoFront } from './pareto.js';

it('keeps what no other beats, with equals', () => {
  expect(
    paretoFront([
      [1, 5],
      [2, 4],
      [2, 5],
      [3, 1],
      [1, 5],
      [9, 9],
    ]),
  ).toEqual([0, 1, 3, 4]);
});

it('is what comparing all pairs gives', () => {
  const values = fc.array(fc.tuple(fc.nat(6), fc.nat(6), fc.nat(6)), { maxLength: 30 });
  fc.assert(
    fc.property(values, (all) => {
      const beaten = (one: number[]) =>
        all.some((other) => other.every((v, i) => v <= one[i]!) && other.some((v, i) => v < one[i]!));
      expect(paretoFront(all)).toEqual(all.flatMap((one, i) => (beaten(one) ? [] : [i])));
    }),
  );
});
