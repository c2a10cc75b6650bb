import { describe, expect, it } from 'vitest';
import { fakeConfig, fakeLatency, fakeReplica, fakeRequests, fakeTable } from './fake-replica.fixture.js';
import { Replica } from './replica.js';

/** What driving a replica by a real clock needs beyond a simulation. */
describe('between two steps', () => {
  it('the batch shows how many tokens each request has at the end of the step', () => {
    const { replica, runUntil } = fakeReplica([
      { input: 4, output: 3 },
      { at: 1, input: 4, output: 3 },
    ]);
    runUntil(1);
    expect([replica.batchSize, replica.rowAt(0), replica.producedAt(0), replica.stepEndUs]).toEqual([1, 0, 1, 14]);
    runUntil(15);
    expect([replica.batchSize, replica.producedAt(0), replica.producedAt(1), replica.stepEndUs]).toEqual([2, 2, 1, 29]);
    expect([replica.rowAt(0), replica.rowAt(1)]).toEqual([0, 1]);
  });

  it('a prompt in pieces has no tokens yet', () => {
    const { replica, runUntil } = fakeReplica([{ input: 150, output: 3 }]);
    runUntil(1);
    expect(replica.producedAt(0)).toBe(0);
  });

  it('arrivals wait for their queueing delay', () => {
    const { replica, runUntil } = fakeReplica([{ input: 4 }], { latency: { queueingUs: 100 } });
    runUntil(50);
    expect([replica.arriving, replica.queueDepth]).toEqual([1, 0]);
    runUntil(101);
    expect(replica.arriving).toBe(0);
  });
});

describe('an aborted request', () => {
  it('that runs gives its seat and its blocks back at once, and another takes them', () => {
    const { replica, events, runUntil, run, status } = fakeReplica(
      [
        { input: 4, output: 50 },
        { at: 1, input: 4, output: 2 },
      ],
      { config: { maxNumSeqs: 1 } },
    );
    runUntil(20);
    expect([replica.batchSize, replica.queueDepth]).toEqual([1, 1]);
    replica.abort(0, 20);
    expect([replica.batchSize, replica.kv.pool.used]).toEqual([0, 0]);
    expect(events.at(-1)).toMatchObject({ row: 0, what: 'lost', atUs: 20 });
    run();
    expect([status(0), status(1)]).toEqual(['timed_out', 'completed']);
  });

  it('that waits leaves the queue', () => {
    const { replica, runUntil, run, status } = fakeReplica(
      [
        { input: 4, output: 5 },
        { at: 1, input: 4 },
        { at: 2, input: 4 },
      ],
      { config: { maxNumSeqs: 1 } },
    );
    runUntil(10);
    replica.abort(1, 10);
    expect(replica.queueDepth).toBe(1);
    run();
    expect([status(0), status(1), status(2)]).toEqual(['completed', 'timed_out', 'completed']);
  });

  it('that is in transit is dropped when it reaches the queue', () => {
    const { replica, runUntil, run, events, status } = fakeReplica([{ input: 4 }], { latency: { queueingUs: 100 } });
    runUntil(10);
    replica.abort(0, 0);
    expect(events).toEqual([]);
    run();
    expect([status(0), replica.isBusy]).toEqual(['timed_out', false]);
    expect(events).toMatchObject([{ row: 0, what: 'lost', atUs: 100 }]);
  });

  it('that did not fit does not affect the next request of its row', () => {
    const config = fakeConfig({ maxNumBatchedTokens: 1000 });
    const table = fakeTable([
      { input: 300, output: 40 },
      { input: 200, output: 20 },
    ]);
    const requests = fakeRequests(table);
    const replica = new Replica(
      config,
      fakeLatency(),
      requests,
      { firstToken() {}, left() {} },
      Number.POSITIVE_INFINITY,
    );
    replica.enqueue(0, 0);
    replica.enqueue(1, 1);
    replica.advance(400);
    expect([replica.batchSize, replica.queueDepth]).toEqual([1, 1]);
    replica.abort(1, 400);
    table.deadlineUs[1] = 0;
    table.inputTokens[1] = 8;
    replica.enqueue(1, 400);
    replica.advance(430);
    expect([replica.batchSize, replica.queueDepth]).toEqual([2, 0]);
  });
});

describe('tokens found in the cache', () => {
  it('are recorded by row on request', () => {
    const table = fakeTable([
      { input: 9, output: 1, group: 'g' },
      { at: 100, input: 10, output: 1, group: 'g' },
    ]);
    table.prefixTokens[table.prefixGroup[0]!] = 8;
    const cachedTokens = new Int32Array(2);
    const requests = { ...fakeRequests(table), cachedTokens };
    const events = { firstToken() {}, left() {} };
    const replica = new Replica(fakeConfig(), fakeLatency(), requests, events, Number.POSITIVE_INFINITY);
    replica.enqueue(0, 0);
    replica.advance(100);
    replica.enqueue(1, 100);
    replica.advance(200);
    expect(Array.from(cachedTokens)).toEqual([0, 8]);
  });
});
