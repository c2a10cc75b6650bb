import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mean, percentile } from './percentile.js';

describe('percentile', () => {
  it.each([
    [0, 10],
    [25, 20],
    [50, 30],
    // Rank 3.6 of 0..4: six tenths of the way from 40 to 50.
    [90, 46],
    [100, 50],
  ])('takes p%i of five values between the two nearest ranks', (p, expected) => {
    expect(percentile([10, 20, 30, 40, 50], p)).toBe(expected);
  });

  it('is the value itself when there is only one', () => {
    expect([0, 50, 99, 100].map((p) => percentile([7], p))).toEqual([7, 7, 7, 7]);
  });

  it('is 0 when there are none', () => {
    expect(percentile([], 99)).toBe(0);
  });

  it('never leaves the range of the values and never falls as p rises', () => {
    const values = fc.array(fc.nat(1000), { minLength: 1, maxLength: 20 }).map((list) => list.sort((a, b) => a - b));
    fc.assert(
      fc.property(values, fc.nat(100), fc.nat(100), (sorted, p, q) => {
        const low = percentile(sorted, Math.min(p, q));
        const high = percentile(sorted, Math.max(p, q));
        expect(low).toBeGreaterThanOrEqual(sorted[0]!);
        expect(high).toBeLessThanOrEqual(sorted.at(-1)!);
        expect(low).toBeLessThanOrEqual(high);
      }),
    );
  });
});

describe('mean', () => {
  it('is the sum divided by the number', () => {
    expect(mean([1, 2, 6])).toBe(3);
  });

  it('is 0 of nothing', () => {
    expect(mean([])).toBe(0);
  });
});
