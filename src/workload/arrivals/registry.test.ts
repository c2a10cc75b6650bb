import { describe, expect, it } from 'vitest';
import { gammaFunction } from '../../kernel/distributions.js';
import { randomStream } from '../../kernel/random-stream.js';
import {
  exponentialCdf,
  gammaCdf,
  kolmogorovSmirnov,
  RARE_DISTANCE,
  type Sample,
  sampleOf,
  weibullCdf,
} from '../generate/statistics.fixture.js';
import { itIsAnArrivalProcess } from './arrivals.contract.js';
import { ARRIVAL_PROCESSES, arrivalProcess } from './registry.js';
import { weibullShape } from './weibull.js';

describe.each(ARRIVAL_PROCESSES.map((process) => [process.name, process] as const))('%s', (_, process) => {
  itIsAnArrivalProcess(process);
});

const MEAN_US = 25_000;
const COUNT = 50_000;

function gaps(name: string, given: { cv?: number; shape?: number; scaleUs?: number }): Sample {
  const sampler = arrivalProcess(name).create(MEAN_US, { cv: 0, shape: 0, scaleUs: 0, ...given });
  const random = randomStream(5, `${name}/${JSON.stringify(given)}`);
  return sampleOf(COUNT, () => sampler.draw(random));
}

describe('the arrival processes', () => {
  it('constant: whole microseconds, no variation', () => {
    const { sorted, cv } = gaps('constant', {});
    expect([sorted[0], sorted[COUNT - 1], cv]).toEqual([MEAN_US, MEAN_US, 0]);
    expect(
      arrivalProcess('constant').create(333_333.3, { cv: 0, shape: 0, scaleUs: 0 }).draw(randomStream(1, '')),
    ).toBe(333_333);
  });

  it('poisson: exponential gaps', () => {
    const sample = gaps('poisson', {});
    expect(sample.mean / MEAN_US).toBeCloseTo(1, 1);
    expect(sample.cv).toBeCloseTo(1, 1);
    expect(kolmogorovSmirnov(sample, exponentialCdf(MEAN_US))).toBeLessThan(RARE_DISTANCE);
  });

  it.each([0.2, 0.5, 1, 2, 3.5])('gamma with a variation of %d', (cv) => {
    const sample = gaps('gamma', { cv });
    expect(sample.cv / cv).toBeGreaterThan(0.96);
    expect(sample.cv / cv).toBeLessThan(1.04);
    expect(kolmogorovSmirnov(sample, gammaCdf(1 / cv ** 2, MEAN_US * cv ** 2))).toBeLessThan(RARE_DISTANCE);
  });

  it.each([0.2, 0.5, 1, 2, 3.5])('weibull with a variation of %d', (cv) => {
    const sample = gaps('weibull', { cv });
    const shape = weibullShape(cv);
    expect(sample.cv / cv).toBeGreaterThan(0.93);
    expect(sample.cv / cv).toBeLessThan(1.07);
    const scale = MEAN_US / gammaFunction(1 + 1 / shape);
    expect(kolmogorovSmirnov(sample, weibullCdf(shape, scale))).toBeLessThan(RARE_DISTANCE);
  });

  it('take an explicit shape and scale in place of rate and variation', () => {
    expect(kolmogorovSmirnov(gaps('gamma', { shape: 0.7, scaleUs: 9000 }), gammaCdf(0.7, 9000))).toBeLessThan(
      RARE_DISTANCE,
    );
    expect(kolmogorovSmirnov(gaps('weibull', { shape: 0.7, scaleUs: 9000 }), weibullCdf(0.7, 9000))).toBeLessThan(
      RARE_DISTANCE,
    );
  });

  it('are distinguished by the test', () => {
    const sample = gaps('gamma', { cv: 1.1 });
    expect(kolmogorovSmirnov(sample, exponentialCdf(MEAN_US))).toBeGreaterThan(RARE_DISTANCE);
    expect(kolmogorovSmirnov(gaps('poisson', {}), exponentialCdf(MEAN_US * 1.03))).toBeGreaterThan(RARE_DISTANCE);
  });
});

describe('weibullShape', () => {
  it.each([0.05, 0.3, 1, 2, 10, 100])('has the variation %d that it was found for', (cv) => {
    const shape = weibullShape(cv);
    const mean = gammaFunction(1 + 1 / shape);
    expect(Math.sqrt(gammaFunction(1 + 2 / shape) / mean ** 2 - 1) / cv).toBeCloseTo(1, 6);
  });
});
