import { describe, expect, it } from 'vitest';
import { type FakeRequest, fakeReplica } from '../fake-replica.fixture.js';

// A step takes 10 us and 1 us per token; blocks hold 4 tokens.

describe('preemption', () => {
  /** Two requests that need 3 blocks each in the end, and 4 blocks for both. */
  const pair = (first: Partial<FakeRequest> = {}, second: Partial<FakeRequest> = {}): FakeRequest[] => [
    { input: 3, output: 9, ...first },
    { input: 3, output: 9, ...second },
  ];

  it('takes the seat of the last in the batch, which starts over', () => {
    const { replica, outcomes, gaps, run } = fakeReplica(pair(), { config: { totalKvBlocks: 4 } });
    run();
    // 0..16 both prompts, five steps of 12. At 76 both need a third block: the second goes, and the first runs alone
    // 76..87. The second comes back: its prompt again 87..101, both 101..113, then alone in seven steps of 11.
    expect(replica.preemptions).toBe(1);
    expect(Array.from(outcomes.e2eUs)).toEqual([113, 190]);
    // Delay and first token are those of its second life, and the gaps of its first are gone.
    expect([outcomes.schedulingDelayUs[1], outcomes.ttftUs[1]]).toEqual([87, 101]);
    expect(gaps()).toEqual([...Array(8).fill(11), ...Array(7).fill(12), 14]);
  });

  it('admits no request in its own step, although there is room', () => {
    const { replica, runUntil } = fakeReplica(pair(), { config: { totalKvBlocks: 4 } });
    runUntil(77);
    expect([replica.batchSize, replica.queueDepth, replica.kv.pool.free]).toEqual([1, 1, 1]);
  });

  it('puts victims back at the front of the queue', () => {
    const { outcomes, run } = fakeReplica([...pair(), { at: 50, input: 1 }], {
      config: { totalKvBlocks: 4, maxNumSeqs: 2 },
    });
    run();
    expect(outcomes.schedulingDelayUs[1]).toBe(87);
    expect(outcomes.schedulingDelayUs[2]).toBeGreaterThan(87 - 50);
  });

  it('puts several victims back in the order they had', () => {
    const { replica, events, run } = fakeReplica(
      [
        { input: 24, output: 1 },
        { input: 2, output: 20 },
        { input: 2, output: 20 },
        { input: 2, output: 20 },
      ],
      { config: { totalKvBlocks: 7, longPrefillTokenThreshold: 12 } },
    );
    run();
    // At 28 the second half of the long prompt needs three blocks, and one is free: the last two have to go.
    expect(replica.preemptions).toBeGreaterThanOrEqual(2);
    const back = events.filter(({ toldUs, what }) => toldUs === 51 && what === 'first token');
    expect(back.map(({ row }) => row)).toEqual([2, 3]);
  });

  it('of the request that needs a block ends the step for those behind it', () => {
    const { replica, outcomes, events, run } = fakeReplica(pair({ slo: 'background' }, { slo: 'critical' }), {
      config: { totalKvBlocks: 4, preemptionPolicy: 'priority' },
    });
    run();
    // At 76 the first needs a block and is itself the least urgent: the second gets nothing in a step of 1 us, which is
    // no gap. The first comes back 77..91, but at 103 it needs a block again, and only gets it when the second has left
    // at 114.
    expect([outcomes.schedulingDelayUs[0], outcomes.ttftUs[0], replica.preemptions]).toEqual([114, 127, 2]);
    expect(outcomes.e2eUs[1]).toBe(16 + 5 * 12 + 14 + 12 + 11);
    expect(events.find(({ row, what }) => row === 1 && what === 'completed')?.atUs).toBe(114);
  });

  it('of an earlier request does not make others miss the step', () => {
    const { outcomes, run } = fakeReplica(pair({ slo: 'background', input: 2 }, { slo: 'critical' }), {
      config: { totalKvBlocks: 4, preemptionPolicy: 'priority' },
    });
    run();
    // 0..15 both prompts, five steps of 12. At 75 the first has its token already when the second needs a block.
    expect([outcomes.schedulingDelayUs[0], outcomes.ttftUs[0]]).toEqual([86, 99]);
    expect(outcomes.e2eUs[1]).toBe(15 + 5 * 12 + 11 + 13 + 12);
  });

  it('may hit a prompt that is half done; what it computed is lost when its blocks are taken', () => {
    const { replica, outcomes, run } = fakeReplica(
      [
        { input: 4, output: 9 },
        { input: 12, output: 1 },
      ],
      { config: { totalKvBlocks: 4, maxNumBatchedTokens: 6 } },
    );
    run();
    // At 32 the prompt has 7 tokens and needs a third block. It waits until the first request has left at 109.
    expect([replica.preemptions, outcomes.e2eUs[0]]).toEqual([1, 109]);
    expect([outcomes.schedulingDelayUs[1], outcomes.ttftUs[1], replica.kv.hits]).toEqual([109, 141, 0]);
    // A prompt is looked up for the statistics once, whatever happens to it later.
    expect([replica.promptTokens, replica.cachedPromptTokens]).toEqual([16, 0]);
  });

  it('of one prompt makes room for the prompt before it', () => {
    const long = { input: 12, output: 1 };
    const { replica, outcomes, run } = fakeReplica([{ input: 4, output: 9 }, long, long], {
      config: { totalKvBlocks: 6, longPrefillTokenThreshold: 4 },
    });
    run();
    // 0..22 and 22..41: a chunk of each prompt. At 41 both need a third block: the last one goes. The other is done
    // 41..56, and the last one starts over in three chunks beside a decode: 56..71, 71..86, 86..101.
    expect(replica.preemptions).toBe(1);
    expect([outcomes.ttftUs[1], outcomes.schedulingDelayUs[2], outcomes.ttftUs[2]]).toEqual([56, 56, 101]);
  });

  it('leaves computed prompt blocks behind for the return', () => {
    const { replica, outcomes, run } = fakeReplica(
      [
        { input: 4, output: 5 },
        { input: 9, output: 4 },
      ],
      { config: { totalKvBlocks: 4 } },
    );
    run();
    // 0..23 both prompts: 1 and 3 blocks. At 23 the first needs a second one, and the other goes.
    expect(outcomes.schedulingDelayUs[1]).toBeGreaterThan(0);
    expect([replica.preemptions, replica.kv.hits]).toEqual([1, 1]);
  });

  it('of a long prompt loses the end of it first', () => {
    const { replica, outcomes, run } = fakeReplica(
      [
        { input: 4, output: 9 },
        { input: 301, output: 6 },
      ],
      { config: { totalKvBlocks: 78, maxNumBatchedTokens: 1000 } },
    );
    run();
    // The long one has 75 full blocks when it has to go at 351. The other takes two blocks more until it leaves at 406:
    // the last, half-filled one and the 75th. So 74 blocks are found again, and five tokens are left to compute.
    expect([replica.preemptions, replica.kv.hits]).toEqual([1, 74]);
    expect([outcomes.schedulingDelayUs[1], outcomes.ttftUs[1]]).toEqual([406, 421]);
  });

  it('of a request that found its whole prompt in the cache leaves nothing of it behind', () => {
    const { replica, outcomes, run } = fakeReplica(
      [
        { input: 8, group: 'g' },
        { at: 100, input: 4, output: 9 },
        { at: 100, input: 8, output: 8, group: 'g' },
      ],
      { config: { totalKvBlocks: 4 } },
    );
    run();
    // The outputs take the blocks of the cached prompt. At 162 there is none left, and the last one has to go; it
    // computes its prompt 206..224, when the other has left.
    expect([replica.preemptions, replica.kv.hits]).toEqual([1, 0]);
    expect([outcomes.schedulingDelayUs[2], outcomes.ttftUs[2], outcomes.e2eUs[2]]).toEqual([106, 124, 124 + 7 * 11]);
  });

  it('of a request whose deadline comes before its return', () => {
    const { replica, status, run } = fakeReplica(pair({}, { deadline: 80 }), { config: { totalKvBlocks: 4 } });
    run();
    expect([status(1), replica.counters.timedOut, replica.queueDepth, replica.kv.pool.free]).toEqual([
      'timed_out',
      1,
      0,
      4,
    ]);
  });
});
