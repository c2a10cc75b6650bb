import { describe, expect, it } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { arrivalProcess } from '../arrivals/registry.js';
import { clockTick, countsByTick, fitArrival } from './fit-arrival.js';

function gaps(process: string, cv: number, count: number, seed = 1): Float64Array {
  const random = randomStream(seed, 'test');
  const sampler = arrivalProcess(process).create(100_000, { cv, shape: 0, scaleUs: 0 });
  return Float64Array.from({ length: count }, () => Math.max(1, Math.trunc(sampler.draw(random))));
}

describe('fitArrival', () => {
  it.each([1, 2, 3])('recognises constant and poisson arrivals (seed %d)', (seed) => {
    expect(fitArrival(gaps('constant', 0, 500, seed), null)).toEqual({ process: 'constant' });
    expect(fitArrival(gaps('poisson', 0, 5000, seed), null)).toEqual({ process: 'poisson' });
  });

  it.each([
    ['gamma', 0.3],
    ['gamma', 0.6],
    ['gamma', 2],
    ['gamma', 3.5],
    ['weibull', 0.6],
    ['weibull', 2],
    ['weibull', 3.5],
  ])('identifies %s arrivals that vary by %d', (process, cv) => {
    for (const seed of [1, 2, 3]) {
      const found = fitArrival(gaps(process, cv, 20_000, seed), null);
      expect(found.process).toBe(process);
      expect(found.cv! / cv).toBeGreaterThan(0.85);
      expect(found.cv! / cv).toBeLessThan(1.15);
    }
  });

  it('takes few arrivals for poisson', () => {
    expect(fitArrival(gaps('gamma', 3, 19), null)).toEqual({ process: 'poisson' });
    expect(fitArrival(new Float64Array(0), null)).toEqual({ process: 'poisson' });
  });

  it('bounds the variation of gaps that cannot come from one process', () => {
    const wild = Float64Array.from({ length: 1000 }, (_, i) => (i === 500 ? 1e12 : 1000));
    expect(fitArrival(wild, null).cv).toBe(10);
  });
});

describe('a coarse clock', () => {
  /** Arrivals with these gaps, their times cut to whole ticks. */
  function cut(all: Float64Array, tickUs: number): Float64Array {
    let at = 0;
    return all.map((gap) => {
      at += gap;
      return Math.floor(at / tickUs) * tickUs;
    });
  }
  const inOrder = (times: Float64Array) => Int32Array.from(times, (_, row) => row);

  it('is noticed when most requests share their time with others', () => {
    const times = cut(gaps('poisson', 0, 5000), 3_000_000);
    expect(clockTick(inOrder(times), times)).toBe(3_000_000);
    const fine = cut(gaps('poisson', 0, 5000), 1000);
    expect(clockTick(inOrder(fine), fine)).toBe(0);
    expect(clockTick(Int32Array.of(0, 1), new Float64Array(2))).toBe(0);
  });

  it.each([
    ['poisson', 1],
    ['gamma', 2],
    ['gamma', 3],
  ])('does not hide %s arrivals that vary by %d', (process, cv) => {
    const times = cut(gaps(process, cv, 20_000, 4), 3_000_000);
    const counts = countsByTick(times, 3_000_000, times[times.length - 1]! + 3_000_000);
    const all = Float64Array.from({ length: times.length - 1 }, (_, i) => times[i + 1]! - times[i]!);
    const found = fitArrival(all, counts);
    expect(found.process).toBe(process);
    if (process === 'gamma') expect(found.cv! / cv).toBeCloseTo(1, 0.7);
  });
});
