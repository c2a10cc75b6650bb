import { describe, expect, it } from 'vitest';
import { fakeTable } from '../replica/fake-replica.fixture.js';
import { RequestOutcomes } from '../replica/request-outcomes.js';
import { ClientSlots } from './client-slots.js';

const NEVER = Number.POSITIVE_INFINITY;

function slotsOf(limit: number, deadline = 0) {
  const table = fakeTable(Array.from({ length: 4 }, (_, at) => ({ at, input: 4, deadline })));
  const outcomes = new RequestOutcomes(4);
  outcomes.recordClientWaits();
  return { slots: new ClientSlots(limit, table, outcomes), table, outcomes };
}

describe('slots of a client', () => {
  it('are given to requests in order, and passed on when a request ends', () => {
    const { slots, table, outcomes } = slotsOf(2);
    expect([0, 1, 2, 3].map((row) => slots.take(row, row))).toEqual([true, true, false, false]);
    expect(slots.nextUs).toBe(NEVER);
    slots.ends(1, 50);
    slots.ends(0, 40);
    expect([slots.nextUs, slots.send(40), slots.nextUs, slots.send(50), slots.nextUs]).toEqual([40, 2, 50, 3, NEVER]);
    expect([...table.arrivalUs.subarray(0, 4)]).toEqual([0, 1, 40, 50]);
    expect([...outcomes.clientWaitUs!]).toEqual([0, 0, 38, 47]);
  });

  it('are free for a request that is due when another ends, and not before', () => {
    const { slots } = slotsOf(1);
    slots.take(0, 0);
    slots.ends(0, 40);
    expect([slots.take(1, 39), slots.send(40), slots.nextUs]).toEqual([false, 1, NEVER]);
    slots.ends(1, 60);
    expect([slots.take(2, 60), slots.take(3, 60)]).toEqual([true, false]);
  });

  it('are given up on at a deadline, which moves with the sending', () => {
    const { slots, table } = slotsOf(1, 100);
    slots.take(0, 0);
    slots.queued(0, 5);
    slots.take(1, 1);
    expect([slots.nextUs, slots.send(100), slots.giveUp()]).toEqual([100, -1, 0]);
    slots.ends(0, 100);
    expect([slots.send(100), table.deadlineUs[1]]).toEqual([1, 199]);
    slots.queued(1, 300);
    expect(slots.nextUs).toBe(NEVER);
  });
});
