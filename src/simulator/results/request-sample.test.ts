import { describe, expect, it } from 'vitest';
import { fleetSample, rowsBy, sortedColumn } from './request-sample.js';
import { toyOutcomes } from './toy-outcomes.contract.js';

describe('sortedColumn', () => {
  it('sorts what was measured of some rows and leaves out the rest', () => {
    const column = Float64Array.of(9, Number.NaN, 10, 1, 7);
    expect(sortedColumn(column, Int32Array.of(0, 1, 2, 4))).toEqual(Float64Array.of(7, 9, 10));
  });
});

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

describe('fleetSample', () => {
  it('has the sorted latencies of each instance and of all together', () => {
    const { outcomes } = toyOutcomes([
      { instance: 1, delay: 3, ttft: 30, e2e: 300 },
      { instance: 0, delay: 2, ttft: 20, e2e: 200 },
      { instance: 1, delay: 1, ttft: 10 },
      { instance: -1, status: 'rejected' },
    ]);
    const { byInstance, all } = fleetSample(outcomes, 4, 2);
    expect(byInstance[1]).toEqual({
      ttftUs: Float64Array.of(10, 30),
      e2eUs: Float64Array.of(300),
      schedulingDelayUs: Float64Array.of(1, 3),
    });
    expect(all).toEqual({
      ttftUs: Float64Array.of(10, 20, 30),
      e2eUs: Float64Array.of(200, 300),
      schedulingDelayUs: Float64Array.of(1, 2, 3),
    });
  });
});
