import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linearScale, logScale, tickLabel } from './scale.js';

describe('linearScale', () => {
  it.each([
    [0, 4.7, [0, 1, 2, 3, 4, 5]],
    [0, 100, [0, 20, 40, 60, 80, 100]],
    [0, 0.7, [0, 0.2, 0.4, 0.6, 0.8]],
    [0, 12, [0, 2.5, 5, 7.5, 10, 12.5]],
    [90, 110, [90, 95, 100, 105, 110]],
    [0, 0, [0, 0.2]],
    [7, 7, [6, 8]],
  ])('marks %d to %d', (min, max, ticks) => {
    expect(linearScale(min, max).ticks).toEqual(ticks);
  });

  it('covers all values, in steps that are easy to read', () => {
    const value = fc.integer({ min: -1e9, max: 1e9 }).map((thousandths) => thousandths / 1000);
    fc.assert(
      fc.property(value, value, (a, b) => {
        const [min, max] = a < b ? [a, b] : [b, a];
        fc.pre(max > min);
        const { at, ticks } = linearScale(min, max);
        expect(ticks.length).toBeGreaterThan(1);
        expect(ticks.length).toBeLessThan(9);
        expect(ticks[0]!).toBeLessThanOrEqual(min + Math.abs(min) * 1e-9);
        expect(ticks.at(-1)!).toBeGreaterThanOrEqual(max - Math.abs(max) * 1e-9);
        expect(at(ticks[0]!)).toBeCloseTo(0, 6);
        expect(at(ticks.at(-1)!)).toBeCloseTo(1, 6);
        expect(at(min)).toBeLessThanOrEqual(at(max));
      }),
    );
  });
});

describe('logScale', () => {
  it('extends from power of ten to power of ten', () => {
    const { at, ticks } = logScale(3, 1200);
    expect(ticks).toEqual([1, 10, 100, 1000, 10_000]);
    expect([at(1), at(100), at(10_000)]).toEqual([0, 0.5, 1]);
    expect([at(0.01), at(1e9)]).toEqual([0, 1]);
    expect(logScale(1, 1).ticks).toEqual([1, 10]);
  });
});

describe('tickLabel', () => {
  it.each([
    [0, '0'],
    [0.25, '0.25'],
    [999, '999'],
    [1500, '1.5k'],
    [20_000_000, '20M'],
    [3e9, '3G'],
    [1e12, '1T'],
    [-2500, '-2.5k'],
  ])('%d is %s', (value, text) => {
    expect(tickLabel(value)).toBe(text);
  });
});
