import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FakeOutcome, fakeOutcomes } from '../../../simulator/results/fake-outcomes.fixture.js';
import { LOAD_STEPS, loadOverTime, MAX_LOAD_ROWS } from './load-over-time.js';

function loadOf(list: readonly FakeOutcome[], instances = 2) {
  const { table, outcomes } = fakeOutcomes(list);
  return loadOverTime(table, outcomes, instances);
}

describe('loadOverTime', () => {
  it('counts requests from arrival to end, in equal stretches of the whole run', () => {
    const { stepUs, kind, rows } = loadOf([
      { at: 0, e2e: 1000, instance: 0 },
      { at: 250, e2e: 500, instance: 1 },
    ]);
    expect([stepUs, kind, rows.length]).toEqual([10, 'instances', 2]);
    expect(rows[0]).toEqual(Array(LOAD_STEPS).fill(1));
    expect(rows[1]!.map((load, i) => (load === 1) === (i >= 25 && i < 75))).not.toContain(false);
  });

  it('counts part of an interval as part of a request', () => {
    const { rows } = loadOf([
      { at: 0, e2e: 1000 },
      { at: 4, e2e: 2, instance: 1 },
      { at: 18, e2e: 4, instance: 1 },
    ]);
    expect(rows[1]!.slice(0, 4)).toEqual([0.2, 0.2, 0.2, 0]);
  });

  it('agrees with a count at every microsecond', () => {
    const request = fc.record({ at: fc.nat(400), e2e: fc.nat(300), instance: fc.nat(1) });
    fc.assert(
      fc.property(fc.array(request, { minLength: 1, maxLength: 20 }), (list) => {
        const { stepUs, rows } = loadOf(list);
        rows.forEach((row, instance) => {
          row.forEach((load, step) => {
            let sum = 0;
            for (let us = step * stepUs; us < (step + 1) * stepUs; us++) {
              sum += list.filter((one) => one.instance === instance && one.at <= us && us < one.at + one.e2e).length;
            }
            expect(Math.abs(load - sum / stepUs)).toBeLessThanOrEqual(0.005 + 1e-9);
          });
        });
      }),
      { numRuns: 50 },
    );
  });

  it('keeps requests that time out until then, unfinished ones to the end, and dropped ones not at all', () => {
    const { rows } = loadOf(
      [
        { at: 0, e2e: 1000, instance: 0 },
        { at: 0, deadline: 500, status: 'timed_out', instance: 1 },
        { at: 100, status: 'running', instance: 2 },
        { at: 0, status: 'dropped', instance: 3 },
        { at: 0, status: 'rejected', instance: -1 },
      ],
      4,
    );
    const sums = rows.map((row) => Math.round(row.reduce((sum, load) => sum + load, 0)));
    expect(sums).toEqual([100, 50, 90, 0]);
  });

  it('is the idlest, the mean and the busiest of a large fleet', () => {
    const list = Array.from({ length: MAX_LOAD_ROWS + 1 }, (_, instance) => ({
      at: 0,
      e2e: instance === 3 ? 100 : 50,
      instance,
    }));
    const { kind, rows } = loadOf(list, MAX_LOAD_ROWS + 1);
    expect([kind, rows.length]).toEqual(['range', 3]);
    expect(rows.map((row) => row[75])).toEqual([0, 0.06, 1]);
  });

  it('is empty for a run in which no request was placed', () => {
    expect(
      loadOf([{ at: 5, status: 'rejected', instance: -1 }])
        .rows.flat()
        .every((load) => load === 0),
    ).toBe(true);
  });
});
