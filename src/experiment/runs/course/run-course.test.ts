import { describe, expect, it } from 'vitest';
import { fakeOutcomes } from '../../../simulator/results/fake-outcomes.fixture.js';
import { QUANTILES } from './latency-quantiles.js';
import { MAX_HEAT_ROWS, runCourse } from './run-course.js';

describe('runCourse', () => {
  it('counts requests and output tokens over time', () => {
    const { outcomes, table } = fakeOutcomes([
      { at: 0, ttft: 500_000, e2e: 1_000_000, instance: 0 },
      { at: 0, ttft: 0, e2e: 1_000_000, instance: 1 },
    ]);
    outcomes.producedTokens.set([11, 21]);
    outcomes.itlSumUs.set([500_000, 1_000_000]);
    const { inSystem, itlMs, replicas, stepUs, tokensPerS } = runCourse(table, outcomes, 2);
    expect([stepUs, inSystem]).toEqual([10_000, Array(100).fill(2)]);
    expect([tokensPerS[0], tokensPerS[99]]).toEqual([21, 43]);
    expect([itlMs[0], itlMs[QUANTILES.indexOf(100)]]).toEqual([50, 50]);
    expect(replicas).toMatchObject({ kind: 'instances', rows: { length: 2 } });
  });

  it('has a row for each of many replicas, and a range for more', () => {
    const { outcomes, table } = fakeOutcomes([{ at: 0, e2e: 1000, instance: 0 }]);
    expect(runCourse(table, outcomes, MAX_HEAT_ROWS).replicas.rows).toHaveLength(MAX_HEAT_ROWS);
    expect(runCourse(table, outcomes, MAX_HEAT_ROWS + 1).replicas).toMatchObject({
      kind: 'range',
      rows: { length: 3 },
    });
  });
});
