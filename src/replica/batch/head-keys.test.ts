import { describe, expect, it } from 'vitest';
import { type FakeRequest, fakeRequests, fakeTable } from '../fake-replica.fixture.js';
import type { ReplicaRequests } from '../replica-requests.js';
import { HeadKeys } from './head-keys.js';

/** Fake keys count from 1000 x group, 1000 x (100 + session) and 1000 x (200 + row). */
function headOf(...list: FakeRequest[]): { head: HeadKeys; requests: ReplicaRequests; asked: number[] } {
  const requests = fakeRequests(fakeTable(list));
  const asked: number[] = [];
  const { fill } = requests.keys;
  requests.keys.fill = (row, blocks, out) => {
    asked.push(row);
    fill(row, blocks, out);
  };
  return { head: new HeadKeys(requests, 4), requests, asked };
}

const loaded = (head: HeadKeys) => Array.from(head.keys.subarray(0, head.count));

describe('HeadKeys', () => {
  it('has keys for the blocks that others may have too, and no others', () => {
    const { head } = headOf({ input: 14, group: 'g', prefix: 9 }, { input: 14 });
    head.load(0, false);
    expect(loaded(head)).toEqual([1000, 1001]);
    head.load(1, false);
    expect(loaded(head)).toEqual([]);
  });

  it('has keys for all full blocks of a prompt that comes back after a preemption', () => {
    const { head } = headOf({ input: 14, group: 'g', prefix: 9 });
    head.load(0, true);
    expect(loaded(head)).toEqual([1000, 1001, 200_002]);
  });

  it('reaches into the output of a growing session, but not to its last token', () => {
    const { head } = headOf(
      { input: 6, output: 6, session: 's', grows: true },
      { input: 6, output: 7, session: 's', grows: true },
      { input: 8, output: 0, session: 's', grows: true },
    );
    // 6 + 5 tokens come back: two full blocks; with one more output token, three.
    head.load(0, false);
    expect(loaded(head)).toEqual([101_000, 101_001]);
    head.load(1, false);
    expect(head.count).toBe(3);
    head.load(2, false);
    expect(head.count).toBe(2);
  });

  it('looks up a head once, however many steps try it', () => {
    const { head, asked } = headOf({ input: 8, group: 'g' }, { input: 8, group: 'g' });
    head.load(0, false);
    head.load(0, false);
    expect(asked).toEqual([0]);
    head.load(1, false);
    head.load(0, false);
    expect(asked).toEqual([0, 1, 0]);
  });

  it('looks up a changed row again', () => {
    const { head, asked } = headOf({ input: 8 });
    head.load(0, false);
    head.forget(7);
    head.load(0, true);
    expect([asked, head.count]).toEqual([[0], 0]);
    head.forget(0);
    head.load(0, true);
    expect([asked, head.count]).toEqual([[0, 0], 2]);
  });

  it('hands its array over and goes on with another', () => {
    const { head, asked } = headOf({ input: 8, group: 'g' });
    const spare = new Int32Array(1);
    head.load(0, false);
    const taken = head.handOver(spare);
    expect(Array.from(taken.subarray(0, 2))).toEqual([1000, 1001]);
    expect(head.keys).toBe(spare);
    head.load(0, false);
    expect(asked).toEqual([0, 0]);
    expect(loaded(head)).toEqual([1000, 1001]);
    expect(head.keys).not.toBe(taken);
    expect(head.handOver(undefined)).not.toBe(head.keys);
  });
});
