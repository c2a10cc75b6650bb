import { describe, expect, it } from 'vitest';
import { pairedDifference, studentT975 } from './paired-difference.js';

describe('pairedDifference', () => {
  it('is the mean of the differences with its interval', () => {
    // Differences 1, 2, 3: mean 2, standard deviation 1, and t for two degrees of freedom.
    const half = 4.3026527 / Math.sqrt(3);
    const { mean, low, high } = pairedDifference([11, 22, 33], [10, 20, 30]);
    expect(mean).toBe(2);
    expect(low).toBeCloseTo(2 - half, 10);
    expect(high).toBeCloseTo(2 + half, 10);
  });

  it('ignores what both have in common', () => {
    expect(pairedDifference([101, 1001, 10_001], [100, 1000, 10_000])).toEqual({ mean: 1, low: 1, high: 1 });
  });

  it('has no interval for a single pair', () => {
    expect(pairedDifference([3], [1])).toEqual({ mean: 2, low: null, high: null });
  });

  it('is never below minus the mean of the reference', () => {
    expect(pairedDifference([0, 1], [10, 30]).low).toBe(-20);
  });
});

describe('studentT975', () => {
  it.each([
    [1, 12.706],
    [4, 2.776],
    [30, 2.042],
    [31, 2.0395],
    [60, 2.0003],
    [999, 1.9623],
  ])('of %s degrees of freedom is %s', (freedom, t) => {
    expect(studentT975(freedom)).toBeCloseTo(t, 3);
  });

  it('falls with every degree, where the table ends too', () => {
    for (let freedom = 1; freedom < 60; freedom++) {
      expect(studentT975(freedom + 1)).toBeLessThan(studentT975(freedom));
    }
  });
});
