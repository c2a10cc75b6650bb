import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RandomStream, randomStream } from './random-stream.js';

const draws = (random: RandomStream, count: number) => Array.from({ length: count }, () => random.next());

/** Chi-square of counts against equal shares. */
function chiSquare(counts: readonly number[]): number {
  const expected = counts.reduce((a, b) => a + b, 0) / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

/** With 63 degrees of freedom, one fair generator in a thousand is above this. */
const CRITICAL_64 = 103.4;

describe('randomStream', () => {
  it('gives the same numbers for the same seed and name in every release', () => {
    expect(draws(randomStream(42, 'router'), 3)).toEqual([
      0.2415527846693435, 0.24876547897840162, 0.06126432986567376,
    ]);
  });

  it('gives other numbers for another seed, also one that differs beyond 32 bits', () => {
    const seeds = [0, 1, 42, -1, 2 ** 32, 2 ** 32 + 42, 2 ** 53 - 1];
    const firsts = new Set(seeds.map((seed) => randomStream(seed, 'router').next()));
    expect(firsts.size).toBe(seeds.length);
  });

  it('gives other numbers for another name', () => {
    const names = ['', 'a', 'b', 'ab', 'ba', 'router', 'admission'];
    expect(new Set(names.map((name) => randomStream(42, name).next())).size).toBe(names.length);
  });

  it('does not depend on draws from other streams', () => {
    const alone = draws(randomStream(1, 'a'), 5);
    const a = randomStream(1, 'a');
    const b = randomStream(1, 'b');
    const mixed = Array.from({ length: 5 }, () => {
      b.next();
      return a.next();
    });
    expect(mixed).toEqual(alone);
  });

  it('shows no pattern between streams of neighbouring seeds', () => {
    const counts = new Array<number>(64).fill(0);
    for (let seed = 0; seed < 6400; seed++) counts[randomStream(seed, 'router').below(64)]!++;
    expect(chiSquare(counts)).toBeLessThan(CRITICAL_64);
  });

  it('spreads its numbers evenly', () => {
    const random = randomStream(7, 'even');
    const counts = new Array<number>(64).fill(0);
    for (let i = 0; i < 64_000; i++) counts[Math.floor(random.next() * 64)]!++;
    expect(chiSquare(counts)).toBeLessThan(CRITICAL_64);
  });

  it('spreads pairs of numbers evenly', () => {
    const random = randomStream(7, 'pairs');
    const counts = new Array<number>(64).fill(0);
    for (let i = 0; i < 64_000; i++) counts[random.below(8) * 8 + random.below(8)]!++;
    expect(chiSquare(counts)).toBeLessThan(CRITICAL_64);
  });

  it('gives numbers from 0 up to but not including 1, with bits to the last place', () => {
    const values = draws(randomStream(3, 'range'), 10_000);
    expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...values)).toBeLessThan(1);
    expect(values.some((value) => (value * 2 ** 53) % 2 === 1)).toBe(true);
  });
});

describe('the generator', () => {
  it('is xoshiro128**: two 32-bit outputs of the published sequence make one number', () => {
    const random = randomStream(0, '');
    random.restore([1, 2, 3, 4]);
    const published = [11520, 0, 5927040, 70819200, 2031721883, 1637235492];
    const joined = [0, 2, 4].map((i) => (published[i]! * 2 ** 21 + (published[i + 1]! >>> 11)) / 2 ** 53);
    expect(draws(random, 3)).toEqual(joined);
  });
});

describe('below', () => {
  it('gives whole numbers from 0 up to but not including the bound', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 40 }), fc.nat(), (bound, seed) => {
        const value = randomStream(seed, 'below').below(bound);
        expect(Number.isInteger(value)).toBe(true);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThan(bound);
      }),
    );
  });

  it('reaches every number', () => {
    const random = randomStream(1, 'reach');
    expect([...new Set(Array.from({ length: 100 }, () => random.below(5)))].sort()).toEqual([0, 1, 2, 3, 4]);
  });
});

describe('state and restore', () => {
  it('repeat the numbers that follow', () => {
    const random = randomStream(9, 'repeat');
    random.next();
    const state = random.state();
    const once = draws(random, 4);
    random.restore(state);
    expect(draws(random, 4)).toEqual(once);
  });

  it('carry over to another stream', () => {
    const from = randomStream(9, 'from');
    const to = randomStream(10, 'to');
    to.restore(from.state());
    expect(draws(to, 4)).toEqual(draws(from, 4));
  });

  it('reading the state changes nothing', () => {
    const random = randomStream(9, 'look');
    random.state();
    expect(random.next()).toBe(randomStream(9, 'look').next());
  });
});
