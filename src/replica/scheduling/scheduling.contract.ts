import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createWaitQueue } from '../batch/wait-queue.js';
import { type FakeRequest, fakeRequests, fakeTable } from '../fake-replica.fixture.js';
import type { Scheduler } from './contract.js';

/** Many requests with the same key and arrival, so that the last tie-break matters. */
const waiting = fc.array(
  fc.record({
    at: fc.nat(2),
    input: fc.integer({ min: 1, max: 3 }),
    output: fc.nat(3),
    slo: fc.constantFrom('', 'critical', 'batch', 'unheard-of'),
  }),
  { minLength: 1, maxLength: 14 },
);

/** The rows in the order in which they get their seats. */
export function admissions(scheduler: Scheduler, list: readonly FakeRequest[], arrival?: readonly number[]): number[] {
  const queue = createWaitQueue(scheduler.order?.(fakeRequests(fakeTable(list))) ?? null);
  for (const row of arrival ?? list.keys()) queue.push(row);
  return Array.from(list, () => {
    const row = queue.head();
    queue.shift();
    return row;
  });
}

/** What the replica relies on, whichever scheduler it was given. */
export function schedulingContract(scheduler: Scheduler): void {
  describe(`${scheduler.name} keeps the contract of schedulers`, () => {
    it('admits every request once', () => {
      fc.assert(
        fc.property(waiting, (list) => {
          expect(admissions(scheduler, list).sort((a, b) => a - b)).toEqual([...list.keys()]);
        }),
      );
    });

    it('does not look at the output length', () => {
      fc.assert(
        fc.property(waiting, (list) => {
          const longer = list.map((one, i) => ({ ...one, output: one.output + ((i * 5) % 7) }));
          expect(admissions(scheduler, longer)).toEqual(admissions(scheduler, list));
        }),
      );
    });

    it('has a description', () => {
      expect(scheduler.name).toMatch(/^[a-z-]+$/);
      expect(scheduler.summary).not.toBe('');
    });

    if (scheduler.order === null) return;
    const orderOf = scheduler.order;

    it('orders any two requests one way or the other, and none before itself', () => {
      fc.assert(
        fc.property(waiting, (list) => {
          const before = orderOf(fakeRequests(fakeTable(list)));
          for (const a of list.keys()) {
            expect(before(a, a)).toBe(false);
            for (const b of list.keys()) if (a !== b) expect(before(a, b)).toBe(!before(b, a));
          }
        }),
      );
    });

    it('is a strict order: the output is sorted for any input order', () => {
      fc.assert(
        fc.property(waiting, fc.nat(), (list, turn) => {
          const before = orderOf(fakeRequests(fakeTable(list)));
          const turned = [...list.keys()].map((row) => (row + turn) % list.length);
          const rows = admissions(scheduler, list, turned);
          rows.forEach((row, i) => {
            for (const later of rows.slice(i + 1)) expect(before(row, later)).toBe(true);
          });
          expect(rows).toEqual(admissions(scheduler, list));
        }),
      );
    });
  });
}
