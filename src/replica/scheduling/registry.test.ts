import { describe, expect, it } from 'vitest';
import type { FakeRequest } from '../fake-replica.fixture.js';
import { SCHEDULERS, scheduler } from './registry.js';
import { admissions, schedulingContract } from './scheduling.contract.js';

for (const one of SCHEDULERS) schedulingContract(one);

const admitted = (name: string, ...list: FakeRequest[]) => admissions(scheduler(name), list);

describe('fcfs', () => {
  it('keeps the order of the queue, whatever the requests are', () => {
    expect(admitted('fcfs', { input: 9, slo: 'batch', at: 5 }, { input: 1, slo: 'critical', at: 3 })).toEqual([0, 1]);
  });
});

describe('priority-fcfs', () => {
  it('admits the most urgent class first; requests without a class are standard', () => {
    const list = ['background', 'sheddable', 'batch', '', 'critical'].map((slo) => ({ input: 1, slo }));
    expect(admitted('priority-fcfs', ...list)).toEqual([4, 3, 2, 1, 0]);
  });

  it('admits the earlier arrival among equals', () => {
    expect(admitted('priority-fcfs', { input: 1, at: 7 }, { input: 1, at: 5 })).toEqual([1, 0]);
  });
});

describe('reverse-priority', () => {
  it('admits the least urgent class first, but still the earlier arrival among equals', () => {
    const list = [
      { input: 1, slo: 'critical' },
      { input: 1, slo: 'background', at: 7 },
      { input: 1, slo: 'background', at: 5 },
    ];
    expect(admitted('reverse-priority', ...list)).toEqual([2, 1, 0]);
  });
});

describe('sjf', () => {
  it('admits the shortest prompt first, then the earlier arrival', () => {
    expect(admitted('sjf', { input: 9 }, { input: 2, at: 5 }, { input: 2, at: 3 })).toEqual([2, 1, 0]);
  });
});

describe('the last tie-break', () => {
  it('is the id as text: request_10 comes before request_2', () => {
    const twelve = Array.from({ length: 12 }, () => ({ input: 1 }));
    expect(admitted('sjf', ...twelve)).toEqual([0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});

describe('scheduler', () => {
  it('finds every scheduler by its name', () => {
    for (const one of SCHEDULERS) expect(scheduler(one.name)).toBe(one);
    expect(SCHEDULERS.map((one) => one.name)).toEqual(['fcfs', 'priority-fcfs', 'sjf', 'reverse-priority']);
  });

  it('names the nearest one for an unknown name', () => {
    expect(() => scheduler('fcsf')).toThrow(
      expect.objectContaining({
        code: 'REPLICA_UNKNOWN_SCHEDULER',
        place: '--scheduler',
        problem: "unknown scheduler 'fcsf'",
        hint: "did you mean 'fcfs'? known: fcfs, priority-fcfs, sjf, reverse-priority",
      }),
    );
  });
});
