import { describe, expect, it } from 'vitest';
import type { FakeRequest } from '../fake-replica.fixture.js';
import { preemptionContract, victimOf } from './preemption.contract.js';
import { PREEMPTION_POLICIES, preemptionPolicy } from './registry.js';

for (const policy of PREEMPTION_POLICIES) preemptionContract(policy);

const victim = (name: string, ...list: FakeRequest[]) => victimOf(preemptionPolicy(name), list);

describe('fcfs', () => {
  it('takes the request admitted last, however urgent', () => {
    expect(victim('fcfs', { input: 1, slo: 'background' }, { input: 1, slo: 'critical' })).toBe(1);
  });
});

describe('priority', () => {
  it('takes the least urgent, wherever it stands', () => {
    expect(victim('priority', { input: 1, slo: 'batch' }, { input: 1, slo: 'background' }, { input: 1 })).toBe(1);
  });

  it('takes the latest arrival among equally urgent ones', () => {
    expect(victim('priority', { input: 1, at: 5 }, { input: 1, at: 9 }, { input: 1, at: 7 })).toBe(1);
  });

  it('takes the one admitted last among those that arrived together', () => {
    expect(victim('priority', { input: 1, at: 5 }, { input: 1, at: 5 }, { input: 1, slo: 'critical', at: 9 })).toBe(1);
  });
});

describe('preemptionPolicy', () => {
  it('finds every policy by its name', () => {
    for (const policy of PREEMPTION_POLICIES) expect(preemptionPolicy(policy.name)).toBe(policy);
    expect(PREEMPTION_POLICIES.map((policy) => policy.name)).toEqual(['fcfs', 'priority']);
  });

  it('names the nearest one for an unknown name', () => {
    expect(() => preemptionPolicy('prority')).toThrow(
      expect.objectContaining({
        code: 'REPLICA_UNKNOWN_PREEMPTION',
        place: '--preemption-policy',
        hint: "did you mean 'priority'? known: fcfs, priority",
      }),
    );
  });
});
