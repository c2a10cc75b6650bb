import { describe, expect, it } from 'vitest';
import { RequestOutcomes, STATUS, STATUSES } from './request-outcomes.js';

describe('STATUS', () => {
  it('numbers the statuses in the order of their names', () => {
    for (const [number, name] of STATUSES.entries()) expect(STATUS[name]).toBe(number);
    expect(STATUS.not_arrived).toBe(0);
  });
});

describe('RequestOutcomes', () => {
  it('starts with requests to which nothing has happened', () => {
    const outcomes = new RequestOutcomes(2);
    expect(outcomes.status).toEqual(Uint8Array.of(0, 0));
    expect(outcomes.instance).toEqual(Int16Array.of(-1, -1));
    expect(new RequestOutcomes(2, 40_000).instance).toEqual(Int32Array.of(-1, -1));
    for (const column of [outcomes.schedulingDelayUs, outcomes.ttftUs, outcomes.e2eUs]) {
      expect(column).toEqual(Float64Array.of(Number.NaN, Number.NaN));
    }
  });

  it('has room for the last of many replicas, also when rows are added', () => {
    for (const instances of [32_767, 100_000]) {
      const outcomes = new RequestOutcomes(1, instances);
      outcomes.reserve(5);
      outcomes.instance[4] = instances - 1;
      expect(outcomes.instance[4]).toBe(instances - 1);
    }
  });

  it('keeps what it holds when rows are added, and the new rows are untouched', () => {
    const outcomes = new RequestOutcomes(1);
    outcomes.status[0] = STATUS.completed;
    outcomes.instance[0] = 3;
    outcomes.schedulingDelayUs[0] = 4;
    outcomes.ttftUs[0] = 5;
    outcomes.itlSumUs[0] = 6;
    outcomes.producedTokens[0] = 7;
    outcomes.e2eUs[0] = 8;
    outcomes.reserve(5);
    expect(outcomes.status.length).toBeGreaterThanOrEqual(5);
    const first = (column: ArrayLike<number>) => column[0];
    expect(
      [
        outcomes.status,
        outcomes.instance,
        outcomes.schedulingDelayUs,
        outcomes.ttftUs,
        outcomes.itlSumUs,
        outcomes.producedTokens,
        outcomes.e2eUs,
      ].map(first),
    ).toEqual([STATUS.completed, 3, 4, 5, 6, 7, 8]);
    expect([outcomes.instance[4], outcomes.e2eUs[4]]).toEqual([-1, Number.NaN]);
  });

  it('does nothing when there is room already', () => {
    const outcomes = new RequestOutcomes(4);
    const { status } = outcomes;
    outcomes.reserve(4);
    expect(outcomes.status).toBe(status);
  });
});
