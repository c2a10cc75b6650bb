import { describe, expect, it } from 'vitest';
import { CountedValues } from '../../kernel/counted-values.js';
import { NO_SPREAD, p99Ms, spreadKeys, spreadOfGaps, spreadOfSorted } from './latency-spread.js';

const us = (...values: number[]) => Float64Array.from(values);

describe('spreadOfSorted', () => {
  it('gives milliseconds, between the two nearest ranks', () => {
    expect(spreadOfSorted(us(1000, 2000, 3000, 4000, 6000))).toEqual({
      mean: 3.2,
      p50: 3,
      p90: 5.2,
      p95: 5.6,
      p99: 5.92,
      min: 1,
      max: 6,
    });
  });

  it('divides each part by 1000 before it adds, so that results agree to the last bit', () => {
    // The two longest of six times in a recorded run, and what was printed for it.
    const spread = spreadOfSorted(us(50_000, 60_000, 70_000, 80_000, 114_290, 138_711));
    expect([spread.p90, spread.p95, spread.p99]).toEqual([126.5005, 132.60575, 137.48995000000002]);
    // Dividing once at the end would give 0.01486, dividing the difference first 0.014860000000000002.
    expect(spreadOfSorted(us(1, 15)).p99).toBe(0.014859999999999998);
  });

  it('divides the sum by the number and then by 1000', () => {
    expect(spreadOfSorted(us(1, 1, 5)).mean).toBe(7 / 3 / 1000);
  });

  it('of one value is that value', () => {
    expect(new Set(Object.values(spreadOfSorted(us(1500))))).toEqual(new Set([1.5]));
  });

  it('of nothing is all zero', () => {
    expect(spreadOfSorted(us())).toEqual(NO_SPREAD);
    expect(new Set(Object.values(NO_SPREAD))).toEqual(new Set([0]));
  });
});

describe('spreadOfGaps', () => {
  it('is the spread of the written-out list with the overhead on each', () => {
    const gaps = new CountedValues();
    gaps.add(20, 2);
    gaps.add(10, 3);
    gaps.add(40, 1);
    expect(spreadOfGaps(gaps, 5)).toEqual(spreadOfSorted(us(15, 15, 15, 25, 25, 45)));
  });

  it('of no gaps is all zero, overhead or not', () => {
    expect(spreadOfGaps(new CountedValues(), 5)).toEqual(NO_SPREAD);
  });
});

describe('p99Ms', () => {
  it('is the p99 of the spread', () => {
    const values = us(1000, 2000, 6000);
    expect(p99Ms(values)).toBe(spreadOfSorted(values).p99);
    expect(p99Ms(us())).toBe(0);
  });
});

describe('spreadKeys', () => {
  it('names the numbers as the result document does', () => {
    expect(spreadKeys('ttft', { mean: 1, p50: 2, p90: 3, p95: 4, p99: 5, min: 0, max: 6 })).toEqual({
      ttft_mean_ms: 1,
      ttft_p50_ms: 2,
      ttft_p90_ms: 3,
      ttft_p95_ms: 4,
      ttft_p99_ms: 5,
      ttft_min_ms: 0,
      ttft_max_ms: 6,
    });
  });
});
