import { describe, expect, it } from 'vitest';
import { exponential, gamma, gammaFunction, gaussian, lognormal, pareto, weibull } from './distributions.js';
import { type RandomStream, randomStream } from './random-stream.js';

const COUNT = 200_000;

function moments(sample: (random: RandomStream) => number): { mean: number; deviation: number; sorted: Float64Array } {
  const random = randomStream(7, 'distributions');
  const values = Float64Array.from({ length: COUNT }, () => sample(random));
  let sum = 0;
  let squares = 0;
  for (const value of values) {
    sum += value;
    squares += value * value;
  }
  const mean = sum / COUNT;
  return { mean, deviation: Math.sqrt(squares / COUNT - mean * mean), sorted: values.sort() };
}

describe('gaussian', () => {
  it('has mean 0, deviation 1 and the quantiles of the normal curve', () => {
    const { mean, deviation, sorted } = moments(gaussian);
    expect(mean).toBeCloseTo(0, 1);
    expect(deviation).toBeCloseTo(1, 1);
    expect(sorted[Math.floor(COUNT * 0.8413)]).toBeCloseTo(1, 1);
    expect(sorted[Math.floor(COUNT * 0.0228)]).toBeCloseTo(-2, 1);
  });

  it('takes exactly two numbers from the stream', () => {
    const drawn = randomStream(1, 'a');
    const skipped = randomStream(1, 'a');
    gaussian(drawn);
    skipped.next();
    skipped.next();
    expect(drawn.state()).toEqual(skipped.state());
  });

  it('stays finite when the stream gives its smallest number', () => {
    const zero = { next: () => 0, below: () => 0, state: () => [0, 0, 0, 0], restore: () => {} } as RandomStream;
    expect(gaussian(zero)).toBeCloseTo(0);
  });
});

describe('exponential', () => {
  it('has the requested mean and deviation, and is never negative', () => {
    const { mean, deviation, sorted } = moments((random) => exponential(random, 40));
    expect(mean / 40).toBeCloseTo(1, 1);
    expect(deviation / 40).toBeCloseTo(1, 1);
    expect(sorted[0]).toBeGreaterThanOrEqual(0);
  });
});

describe('lognormal', () => {
  it('has median e^mu and the mean of the lognormal law', () => {
    const { mean, sorted } = moments((random) => lognormal(random, 2, 0.5));
    expect(sorted[COUNT / 2]! / Math.exp(2)).toBeCloseTo(1, 1);
    expect(mean / Math.exp(2 + 0.125)).toBeCloseTo(1, 1);
  });

  it('is constant without spread', () => {
    expect(lognormal(randomStream(3, 'x'), 1.5, 0)).toBe(Math.exp(1.5));
  });
});

describe('pareto', () => {
  it('never falls below its least value and has the mean of its law', () => {
    const { mean, sorted } = moments((random) => pareto(random, 10, 3));
    expect(sorted[0]).toBeGreaterThanOrEqual(10);
    expect(mean / 15).toBeCloseTo(1, 1);
  });
});

describe('weibull', () => {
  it('is exponential for a shape of 1', () => {
    const { mean, deviation } = moments((random) => weibull(random, 1, 40));
    expect(mean / 40).toBeCloseTo(1, 1);
    expect(deviation / 40).toBeCloseTo(1, 1);
  });
});

describe('gamma', () => {
  it.each([0.05, 0.5, 1, 4, 100])('has mean and deviation of its law for the shape %d', (shape) => {
    const { mean, deviation, sorted } = moments((random) => gamma(random, shape, 3));
    expect(mean / (3 * shape)).toBeCloseTo(1, 1);
    expect(deviation / (3 * Math.sqrt(shape))).toBeCloseTo(1, 1);
    expect(sorted[0]).toBeGreaterThanOrEqual(0);
  });
});

describe('gammaFunction', () => {
  it('continues the factorials', () => {
    for (const [x, value] of [
      [0.5, Math.sqrt(Math.PI)],
      [1, 1],
      [5, 24],
      [11, 3_628_800],
      [21, 2_432_902_008_176_640_000],
    ] as const) {
      expect(gammaFunction(x) / value).toBeCloseTo(1, 11);
    }
  });
});
