import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Replica } from '../../replica/replica.js';
import { countInversions, holBlockingEvents, priorityInversions } from './anomalies.js';
import { type FakeOutcome, fakeOutcomes } from './fake-outcomes.fixture.js';

describe('countInversions', () => {
  it('counts pairs whose first is more than twice their second', () => {
    // 9 before 4, 9 before 1, 4 before 1; 4 before 2 is exactly twice.
    expect(countInversions(Float64Array.of(9, 4, 2, 1))).toBe(5 - 1);
    expect(countInversions(Float64Array.of(1, 2, 4, 9))).toBe(0);
    expect(countInversions(new Float64Array(0))).toBe(0);
  });

  it('agrees with trying every pair', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(30), { maxLength: 40 }), (values) => {
        let pairs = 0;
        values.forEach((first, i) => {
          for (const second of values.slice(i + 1)) if (first > 2 * second) pairs++;
        });
        expect(countInversions(Float64Array.from(values))).toBe(pairs);
      }),
    );
  });
});

describe('priorityInversions', () => {
  const inversions = (scheduler: string, ...list: FakeOutcome[]) => {
    const { table, outcomes } = fakeOutcomes(list);
    return priorityInversions(table, outcomes, 2, scheduler);
  };
  const slow = { at: 0, e2e: 100 };
  const fast = { at: 5, e2e: 49 };

  it('are requests that took more than twice as long as a later one', () => {
    expect(inversions('priority-fcfs', slow, fast)).toBe(1);
    expect(inversions('priority-fcfs', slow, { ...fast, e2e: 50 })).toBe(0);
  });

  it('go by arrival, not by the order of the table', () => {
    expect(inversions('priority-fcfs', fast, slow)).toBe(1);
    expect(inversions('priority-fcfs', { ...slow, at: 9 }, fast)).toBe(0);
  });

  it('go by the order of the table among requests that arrived together', () => {
    expect(inversions('priority-fcfs', slow, { ...fast, at: 0 })).toBe(1);
    expect(inversions('priority-fcfs', { ...fast, at: 0 }, slow)).toBe(0);
  });

  it('need the same class, the same replica and two completed requests', () => {
    expect(inversions('priority-fcfs', slow, { ...fast, slo: 'batch' })).toBe(0);
    expect(inversions('priority-fcfs', slow, { ...fast, instance: 1 })).toBe(0);
    expect(inversions('priority-fcfs', slow, { at: 5 })).toBe(0);
  });

  it('are only looked for with the scheduler that promises an order', () => {
    expect(inversions('fcfs', slow, fast)).toBe(0);
  });
});

describe('holBlockingEvents', () => {
  const events = (...samples: [sum: number, steps: number][]) =>
    holBlockingEvents(samples.map(([queueSamples, steps]) => ({ counters: { queueSamples, steps } }) as Replica));

  it('are replicas whose mean queue is more than twice the mean of all', () => {
    // Means 9, 1 and 0: the mean of means is 10/3.
    expect(events([90, 10], [10, 10], [0, 10])).toBe(1);
    expect(events([20, 10], [10, 10], [0, 10])).toBe(0);
  });

  it('do not count a replica at exactly twice the mean', () => {
    expect(events([40, 10], [0, 10])).toBe(0);
  });

  it('take a replica that never ran for one without a queue', () => {
    expect(events([90, 10], [0, 0], [0, 0])).toBe(1);
  });

  it('need two replicas and a request that waited', () => {
    expect([events([90, 10]), events([0, 10], [0, 10]), events()]).toEqual([0, 0, 0]);
  });
});
