import { describe, expect, it } from 'vitest';
import { greatestWhere, leastWhere, outOfOrder } from './bisect.js';

const upFrom = (least: number) => {
  const tried: number[] = [];
  const holds = async (at: number) => {
    tried.push(at);
    return at >= least;
  };
  return { holds, tried };
};

describe('leastWhere', () => {
  it('finds the least number from any guess, and tries none twice', async () => {
    for (const least of [1, 2, 5, 17, 100]) {
      for (const guess of [1, 4, 5, 40, 300]) {
        const { holds, tried } = upFrom(least);
        expect(await leastWhere(holds, guess, 256)).toBe(least);
        expect(new Set(tried).size).toBe(tried.length);
        if (least > 1) expect(tried).toContain(least - 1);
      }
    }
  });

  it('needs few tries near a good guess', async () => {
    const { holds, tried } = upFrom(5);
    await leastWhere(holds, 5, 256);
    expect(tried).toEqual([5, 4]);
  });

  it('is null when it does not hold at the most', async () => {
    expect(await leastWhere(async () => false, 3, 64)).toBeNull();
  });
});

describe('greatestWhere', () => {
  const bounds = { from: 0, guess: 50, least: 0.1, most: 1000, tolerance: 0.02 };
  it('finds the greatest number to the tolerance, from below and from above', async () => {
    for (const greatest of [0.7, 30, 49, 51, 400]) {
      const found = await greatestWhere(async (at) => at <= greatest, bounds);
      expect(found).toBeLessThanOrEqual(greatest);
      expect(found).toBeGreaterThan(greatest / 1.02 - 1e-9);
    }
  });

  it('is null when it holds nowhere, and infinite when it holds everywhere', async () => {
    expect(await greatestWhere(async () => false, bounds)).toBeNull();
    expect(await greatestWhere(async () => true, bounds)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('outOfOrder', () => {
  it('names what holds and what fails beyond it', () => {
    const tried = new Map([
      [2, false],
      [3, true],
      [4, false],
      [5, true],
    ]);
    expect(outOfOrder(tried, 'more')).toEqual({ holds: 3, fails: 4 });
    expect(outOfOrder(tried, 'less')).toEqual({ holds: 5, fails: 2 });
  });

  it('is null when everything is in order', () => {
    const tried = new Map([
      [4, true],
      [3, false],
      [8, true],
    ]);
    expect(outOfOrder(tried, 'more')).toBeNull();
  });
});
