import { expect, it } from 'vitest';
import { randomStream } from '../../kernel/random-stream.js';
import { sampleOf } from '../generate/statistics.fixture.js';
import type { ArrivalProcess, GapParameters } from './arrival-process.js';

const NONE: GapParameters = { cv: 0, shape: 0, scaleUs: 0 };
const MEAN_US = 40_000;

/** What every arrival process promises. */
export function itIsAnArrivalProcess(process: ArrivalProcess): void {
  const all: GapParameters[] =
    process.cv === null
      ? [NONE]
      : [0.3, 1, 3].map((cv) => ({ ...NONE, cv })).concat({ ...NONE, shape: 0.8, scaleUs: 5e4 });

  it.each(all)('draws the same gaps from the same stream, finite and never negative: %o', (parameters) => {
    const gaps = () => {
      const sampler = process.create(MEAN_US, parameters);
      const random = randomStream(11, 'arrivals');
      return Array.from({ length: 2000 }, () => sampler.draw(random));
    };
    expect(gaps()).toEqual(gaps());
    for (const gap of gaps()) {
      expect(gap).toBeGreaterThanOrEqual(0);
      expect(gap).toBeLessThan(Number.POSITIVE_INFINITY);
    }
  });

  it.each(all.slice(0, 3))('has the requested mean, for any variation: %o', (parameters) => {
    const sampler = process.create(MEAN_US, parameters);
    const random = randomStream(12, 'arrivals');
    const { mean } = sampleOf(100_000, () => sampler.draw(random));
    expect(mean / MEAN_US).toBeGreaterThan(0.97);
    expect(mean / MEAN_US).toBeLessThan(1.03);
  });

  it('has the variation that it declares', () => {
    if (process.cv === null) return expect(process.cv).toBeNull();
    for (const cv of [process.cv.min, process.cv.max]) {
      const sampler = process.create(MEAN_US, { ...NONE, cv });
      const gap = sampler.draw(randomStream(13, 'arrivals'));
      expect(gap >= 0 && gap < Number.POSITIVE_INFINITY).toBe(true);
    }
  });
}
