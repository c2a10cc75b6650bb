import { expect, it } from 'vitest';
import { commonFactor, ownDoubts, type ProfileFamily, priorResiduals } from './profile-family.js';

const FAMILY: ProfileFamily = {
  parameters: [
    { name: 'a', start: 1, doubt: 0.1 },
    { name: 'b', start: 1, doubt: 0.1 },
    { name: 'c', start: 1, doubt: 0.5 },
  ],
  together: { names: ['a', 'b'], doubt: 1, as: 'a GPU' },
  costsOf: () => {
    throw new Error('not used');
  },
};

it('lets parameters that belong together move together', () => {
  const both = Float64Array.of(1, 1, 0);
  expect(commonFactor(FAMILY, both)).toBe(1);
  expect(ownDoubts(FAMILY, both)).toEqual([0, 0, 0]);
  expect(priorResiduals(FAMILY, both)).toEqual([0, 0, 0, 1]);
});

it('holds each of them back alone', () => {
  expect(ownDoubts(FAMILY, Float64Array.of(1, 0, 0))[0]).toBeCloseTo(5, 9);
  expect(ownDoubts(FAMILY, Float64Array.of(1, 0, 0))[1]).toBeCloseTo(-5, 9);
});

it('weighs what is implausible more than in proportion', () => {
  const at = (c: number) => priorResiduals(FAMILY, Float64Array.of(0, 0, c))[2]!;
  expect(at(0.5)).toBeCloseTo(1 + 1 / 16, 9);
  expect(at(2)).toBeCloseTo(4 + 64 / 16, 9);
});

it('needs no parameters that belong together', () => {
  const { together: _, ...alone } = FAMILY;
  expect(commonFactor(alone, Float64Array.of(1, 1, 1))).toBe(0);
  expect(priorResiduals(alone, Float64Array.of(0, 0, 0))).toEqual([0, 0, 0]);
});
