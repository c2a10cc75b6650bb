import { describe, expect, it } from 'vitest';
import { percentile } from '../../kernel/percentile.js';
import { randomStream } from '../../kernel/random-stream.js';
import { TOKENS } from '../lengths/limits.js';
import { lengthSampler } from '../lengths/registry.js';
import type { LengthSpec } from '../spec/workload-spec.js';
import { fitLengths } from './fit-lengths.js';

function drawn(spec: LengthSpec, count: number, seed = 1): Float64Array {
  const random = randomStream(seed, 'test');
  const sampler = lengthSampler(spec, TOKENS);
  return Float64Array.from({ length: count }, () => sampler.draw(random));
}

describe('fitLengths', () => {
  it('recognises a constant', () => {
    expect(fitLengths(Float64Array.of(7, 7, 7))).toEqual({ type: 'constant', params: { value: 7 } });
    expect(fitLengths(new Float64Array(0))).toEqual({ type: 'constant', params: { value: 1 } });
  });

  it.each([1, 2, 3])('finds the parameters of a gaussian (seed %d)', (seed) => {
    const { type, params } = fitLengths(
      drawn({ type: 'gaussian', params: { mean: 800, std_dev: 120, min: 1, max: 5000 } }, 5000, seed),
    );
    expect(type).toBe('gaussian');
    expect(params!.mean! / 800).toBeCloseTo(1, 1);
    expect(params!.std_dev! / 120).toBeCloseTo(1, 1);
  });

  it.each([1, 2, 3])('finds the parameters of a lognormal (seed %d)', (seed) => {
    const { type, params } = fitLengths(drawn({ type: 'lognormal', params: { mu: 6, sigma: 1.1 } }, 5000, seed));
    expect(type).toBe('lognormal');
    expect(params!.mu).toBeCloseTo(6, 1);
    expect(params!.sigma).toBeCloseTo(1.1, 1);
  });

  it('keeps the numbers where no distribution fits', () => {
    const values = drawn({ type: 'empirical', params: { 40: 0.3, 900: 0.5, 12000: 0.19, 90000: 0.01 } }, 4000);
    const { type, params } = fitLengths(values);
    expect(type).toBe('empirical');
    expect(Object.keys(params!)).toEqual(['40', '900', '12000', '90000']);
    expect(params!['900']).toBeCloseTo(0.5, 1);
    expect(Object.values(params!).reduce((sum, share) => sum + share)).toBeCloseTo(1, 5);
  });

  it('regenerates quantiles and mean where no distribution fits', () => {
    const random = randomStream(5, 'test');
    const values = Float64Array.from({ length: 20_000 }, () => Math.round(300 + 20_000 * random.next() ** 3));
    const spec = fitLengths(values);
    expect(spec.type).toBe('empirical');
    expect(Object.keys(spec.params!).length).toBeLessThan(220);
    const again = drawn(spec, 200_000, 6).sort();
    values.sort();
    for (const p of [1, 50, 90, 99]) expect(percentile(again, p) / percentile(values, p)).toBeCloseTo(1, 1.5);
    const sum = (all: Float64Array) => all.reduce((a, b) => a + b);
    expect(sum(again) / again.length / (sum(values) / values.length)).toBeCloseTo(1, 2);
  });

  it.each<[string, (u: number, i: number) => number]>([
    ['too heavy a tail', (u, i) => (i % 40 === 0 ? 50_000 : Math.exp(5 + u))],
    ['two peaks', (u, i) => (i % 2 === 0 ? 100 : 400) + 20 * u],
    ['nothing before a point', (u) => 1000 - 300 * Math.log(1 - u)],
  ])('fits no distribution to %s', (_, value) => {
    const random = randomStream(9, 'test');
    expect(fitLengths(Float64Array.from({ length: 3000 }, (_one, i) => Math.round(value(random.next(), i)))).type).toBe(
      'empirical',
    );
  });

  it('has a place for 0 and for pauses of hours', () => {
    const pauses = Float64Array.from({ length: 500 }, (_, i) => (i < 300 ? 0 : 5e9));
    expect(fitLengths(pauses)).toEqual({ type: 'empirical', params: { 0: 0.6, 5000000000: 0.4 } });
  });
});
