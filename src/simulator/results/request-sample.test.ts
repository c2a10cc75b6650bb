import { describe, expect, it } from 'vitest';
import { fakeOutcomes } from './fake-outcomes.fixture.js';
import { RequestSampler, rowsBy } from './request-sample.js';

describe('rowsBy', () => {
  it('groups rows by value, in order, without values below zero', () => {
    expect(rowsBy(Int32Array.of(1, 0, 1, -1, 3), 4)).toEqual([
      Int32Array.of(1),
      Int32Array.of(0, 2),
      new Int32Array(0),
      Int32Array.of(4),
    ]);
  });
});

describe('RequestSampler', () => {
  it('sums up what was measured of some rows and leaves out the rest', () => {
    const { outcomes } = fakeOutcomes([
      { instance: 1, delay: 3000, ttft: 30_000, e2e: 300_000 },
      { instance: 0, delay: 2000, ttft: 20_000, e2e: 200_000 },
      { instance: 1, delay: 1000, ttft: 10_000 },
      { instance: -1, status: 'rejected' },
    ]);
    const sampler = new RequestSampler(outcomes, 4);
    expect(sampler.sample(Int32Array.of(0, 2))).toMatchObject({
      ttft: { min: 10, mean: 20, max: 30 },
      e2e: { min: 300, max: 300 },
      completed: 1,
      ttftUs: { mean_us: 20_000 },
      e2eUs: { mean_us: 300_000, p99_us: 300_000 },
    });
    expect(sampler.sample(Int32Array.of(0, 1, 2, 3))).toMatchObject({ completed: 2, ttft: { p50: 20 } });
    expect(sampler.sample(Int32Array.of(0, 1)).schedulingDelayP99Ms).toBeCloseTo(2.99, 9);
    expect(sampler.sorted(outcomes.ttftUs, Int32Array.of(0, 3, 2))).toEqual(Float64Array.of(10_000, 30_000));
  });
});
