import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RunningBatch } from '../batch/running-batch.js';
import { type FakeRequest, fakeRequests, fakeTable } from '../fake-replica.fixture.js';
import type { PreemptionPolicy } from './contract.js';

const members = fc.array(
  fc.record({
    at: fc.nat(3),
    input: fc.integer({ min: 1, max: 9 }),
    output: fc.nat(9),
    slo: fc.constantFrom('', 'critical', 'batch', 'background'),
  }),
  { minLength: 1, maxLength: 10 },
);

/** Place of the victim in a batch of these requests. Slots are not the same numbers as places, and not as rows. */
export function victimOf(policy: PreemptionPolicy, list: readonly FakeRequest[]): number {
  const batch = new RunningBatch(4);
  for (const _ of list) batch.seatAtTail(batch.freeSlot());
  for (const _ of list) batch.unseat(0);
  for (const row of list.keys()) {
    const slot = batch.freeSlot();
    batch.seatAtTail(slot);
    batch.row[slot] = row;
  }
  const before = structuredClone(batch.order);
  const victim = policy.victim(batch, fakeRequests(fakeTable(list)));
  expect([batch.order, batch.size]).toEqual([before, list.length]);
  return victim;
}

/** What the replica relies on, whichever preemption policy it was given. */
export function preemptionContract(policy: PreemptionPolicy): void {
  describe(`${policy.name} keeps the contract of preemption policies`, () => {
    it('names a place in the batch and leaves the batch alone', () => {
      fc.assert(
        fc.property(members, (list) => {
          const victim = victimOf(policy, list);
          expect(Number.isInteger(victim)).toBe(true);
          expect(victim).toBeGreaterThanOrEqual(0);
          expect(victim).toBeLessThan(list.length);
        }),
      );
    });

    it('takes the last of the batch whenever it says that it always does', () => {
      fc.assert(
        fc.property(members, (list) => {
          if (policy.takesLast) expect(victimOf(policy, list)).toBe(list.length - 1);
        }),
      );
    });

    it('does not look at the lengths of requests', () => {
      fc.assert(
        fc.property(members, (list) => {
          const others = list.map((one, i) => ({ ...one, input: 1 + ((i * 3) % 5), output: (i * 5) % 7 }));
          expect(victimOf(policy, others)).toBe(victimOf(policy, list));
        }),
      );
    });

    it('has a description', () => {
      expect(policy.name).toMatch(/^[a-z-]+$/);
      expect(policy.summary).not.toBe('');
    });
  });
}
