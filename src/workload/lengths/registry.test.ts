import { describe, expect, it } from 'vitest';
import { type RandomStream, randomStream } from '../../kernel/random-stream.js';
import {
  exponentialCdf,
  kolmogorovSmirnov,
  lognormalCdf,
  normalCdf,
  paretoCdf,
  RARE_DISTANCE,
  type Sample,
  sampleOf,
} from '../generate/statistics.fixture.js';
import type { LengthSpec } from '../spec/workload-spec.js';
import { itIsALengthDistribution } from './lengths.contract.js';
import { TOKENS } from './limits.js';
import { LENGTH_DISTRIBUTIONS, lengthSampler } from './registry.js';

const PARAMETERS: Record<string, Record<string, number>> = {
  constant: { value: 100 },
  gaussian: { mean: 100, std_dev: 40 },
  exponential: { mean: 100 },
  lognormal: { mu: 4.5, sigma: 0.8 },
  pareto_lognormal: { alpha: 1.2, xm: 90, mu: 4.5, sigma: 0.8, mix_weight: 0.3 },
  empirical: { 4: 0.2, 90: 0.5, 5000: 0.3 },
};

describe.each(LENGTH_DISTRIBUTIONS.map((distribution) => [distribution.name, distribution] as const))(
  '%s',
  (name, distribution) => {
    itIsALengthDistribution(distribution, PARAMETERS[name]!);
  },
);

const COUNT = 50_000;

function lengths(type: LengthSpec['type'], params: Record<string, number>): Sample {
  const sampler = lengthSampler({ type, params }, TOKENS);
  const random = randomStream(8, type);
  return sampleOf(COUNT, () => sampler.draw(random));
}

/** Lengths so great that rounding them to whole tokens changes no distribution. */
describe('the length distributions', () => {
  it('gaussian', () => {
    const sample = lengths('gaussian', { mean: 1e6, std_dev: 1e5 });
    expect(sample.mean / 1e6).toBeCloseTo(1, 2);
    expect(sample.cv).toBeCloseTo(0.1, 2);
    expect(kolmogorovSmirnov(sample, normalCdf(1e6, 1e5))).toBeLessThan(RARE_DISTANCE);
  });

  it('exponential', () => {
    const sample = lengths('exponential', { mean: 1e6 });
    expect(sample.cv).toBeCloseTo(1, 1);
    expect(kolmogorovSmirnov(sample, exponentialCdf(1e6))).toBeLessThan(RARE_DISTANCE);
  });

  it('lognormal', () => {
    const sample = lengths('lognormal', { mu: 12, sigma: 0.6 });
    expect(sample.mean / Math.exp(12 + 0.18)).toBeCloseTo(1, 1);
    expect(kolmogorovSmirnov(sample, lognormalCdf(12, 0.6))).toBeLessThan(RARE_DISTANCE);
  });

  it('pareto_lognormal: a mixture by its weight', () => {
    const sample = lengths('pareto_lognormal', { alpha: 2.5, xm: 2e5, mu: 12, sigma: 0.6, mix_weight: 0.25 });
    const body = lognormalCdf(12, 0.6);
    const tail = paretoCdf(2e5, 2.5);
    expect(kolmogorovSmirnov(sample, (x) => 0.75 * body(x) + 0.25 * tail(x))).toBeLessThan(RARE_DISTANCE);
    expect(kolmogorovSmirnov(sample, (x) => 0.7 * body(x) + 0.3 * tail(x))).toBeGreaterThan(RARE_DISTANCE);
  });

  it('constant', () => {
    const { sorted } = lengths('constant', { value: 77.4 });
    expect([sorted[0], sorted[COUNT - 1]]).toEqual([77, 77]);
  });

  it('empirical: each length with its share, those without one never', () => {
    const { sorted } = lengths('empirical', { 5: 1, 10: 0, 20: 2, 30: 1 });
    const share = (length: number) => sorted.filter((value) => value === length).length / COUNT;
    expect(share(5)).toBeCloseTo(0.25, 2);
    expect(share(10)).toBe(0);
    expect(share(20)).toBeCloseTo(0.5, 2);
    expect(share(30)).toBeCloseTo(0.25, 2);
    const edge = (value: number) => ({ next: () => value }) as RandomStream;
    const sampler = lengthSampler({ type: 'empirical', params: { 5: 1, 30: 1 } }, TOKENS);
    expect([sampler.draw(edge(0)), sampler.draw(edge(0.5)), sampler.draw(edge(1 - 2 ** -53))]).toEqual([5, 30, 30]);
    expect(lengthSampler({ type: 'empirical', params: { 7: 3, 9: 0 } }, TOKENS).draw(edge(0.9))).toBe(7);
  });

  it('draws nothing where nothing varies', () => {
    const random = randomStream(1, 'still');
    const before = random.state();
    for (const [type, params, length] of [
      ['gaussian', { mean: 9.6, std_dev: 0 }, 10],
      ['lognormal', { mu: Math.log(50), sigma: 0 }, 50],
      ['gaussian', { mean: 0, std_dev: 0, max: 0 }, 1],
    ] as const) {
      expect(lengthSampler({ type, params }, TOKENS).draw(random)).toBe(length);
    }
    expect(random.state()).toEqual(before);
  });
});
