import { describe, expect, it } from 'vitest';
import { type ToyRequest, toyReplica } from './toy-replica.contract.js';

// A step takes 10 us and 1 us per token; blocks hold 4 tokens.

describe('the token budget of a step', () => {
  it('cuts a long prompt into chunks', () => {
    const { outcomes, run } = toyReplica([{ input: 20 }], { config: { maxNumBatchedTokens: 8 } });
    run();
    expect(outcomes.ttftUs[0]).toBe(18 + 18 + 14);
  });

  it('goes to running requests first; a waiting prompt gets what is left', () => {
    const { outcomes, run } = toyReplica(
      [
        { input: 4, output: 3 },
        { at: 1, input: 10 },
      ],
      { config: { maxNumBatchedTokens: 8 } },
    );
    run();
    // 0..14: 4 tokens. 14..32: 1 and 7. 32..46: 1 and the last 3.
    expect(Array.from(outcomes.e2eUs)).toEqual([46, 45]);
  });

  it('lets a long prompt take no more than the threshold, so that others fit beside it', () => {
    const { outcomes, run } = toyReplica([{ input: 12 }, { input: 3 }], {
      config: { longPrefillTokenThreshold: 5 },
    });
    run();
    // 0..18: 5 and 3. 18..33: 5. 33..45: 2.
    expect(Array.from(outcomes.ttftUs)).toEqual([45, 18]);
  });

  it('makes decoding requests at the end of the batch sit a step out', () => {
    // Empty prompts cost no tokens: three requests get a seat in a step with a budget of two.
    const empty = { input: 0, output: 3 };
    const { outcomes, events, gaps, run } = toyReplica([empty, empty, empty], { config: { maxNumBatchedTokens: 2 } });
    run();
    // 0..1 nothing. 1..13 and 13..25: the first two. 25..36 and 36..47: the third, all alone.
    expect(Array.from(outcomes.e2eUs)).toEqual([25, 25, 23]);
    // A step that was sat out is no gap between tokens, so the third leaves later than its latency says.
    expect(events.at(-1)).toEqual({ toldUs: 36, row: 2, what: 'completed', atUs: 47 });
    expect(gaps()).toEqual([11, 11, 12, 12, 12, 12]);
  });
});

describe('seats', () => {
  it('limit how many requests run at once', () => {
    const { outcomes, run } = toyReplica([{ input: 4 }, { input: 4 }, { input: 4 }], { config: { maxNumSeqs: 2 } });
    run();
    expect(Array.from(outcomes.schedulingDelayUs)).toEqual([0, 0, 18]);
  });

  it('go in the order of the scheduler', () => {
    const { outcomes, run } = toyReplica([{ input: 9 }, { input: 5 }, { input: 7 }], {
      config: { maxNumSeqs: 1, scheduler: 'sjf' },
    });
    run();
    // Shortest first: 0..15, 15..32, 32..51.
    expect(Array.from(outcomes.schedulingDelayUs)).toEqual([32, 0, 15]);
  });
});

describe('a head of the queue that does not fit in memory', () => {
  it('blocks those behind it, and nobody is preempted for it', () => {
    const { replica, outcomes, run } = toyReplica(
      [
        { input: 8, output: 5 },
        { at: 1, input: 12 },
        { at: 1, input: 1 },
      ],
      { config: { totalKvBlocks: 4 } },
    );
    run();
    // The first holds 3 of 4 blocks from 18 on; its last step is 51..62.
    expect(Array.from(outcomes.schedulingDelayUs)).toEqual([0, 61, 61]);
    expect(replica.preemptions).toBe(0);
  });
});

describe('preemption', () => {
  /** Two requests that need 3 blocks each in the end, and 4 blocks for both. */
  const pair = (first: Partial<ToyRequest> = {}, second: Partial<ToyRequest> = {}): ToyRequest[] => [
    { input: 3, output: 9, ...first },
    { input: 3, output: 9, ...second },
  ];

  it('takes the seat of the last in the batch, which starts over', () => {
    const { replica, outcomes, gaps, run } = toyReplica(pair(), { config: { totalKvBlocks: 4 } });
    run();
    // 0..16 both prompts, five steps of 12. At 76 both need a third block: the second goes, and the first runs alone
    // 76..87. The second comes back: its prompt again 87..101, both 101..113, then alone in seven steps of 11.
    expect(replica.preemptions).toBe(1);
    expect(Array.from(outcomes.e2eUs)).toEqual([113, 190]);
    // Delay and first token are those of its second life, and the gaps of its first are gone.
    expect([outcomes.schedulingDelayUs[1], outcomes.ttftUs[1]]).toEqual([87, 101]);
    expect(gaps()).toEqual([...Array(8).fill(11), ...Array(7).fill(12), 14]);
  });

  it('admits nobody in its own step, although there is room', () => {
    const { replica, runUntil } = toyReplica(pair(), { config: { totalKvBlocks: 4 } });
    runUntil(77);
    expect([replica.batchSize, replica.queueDepth, replica.kv.pool.free]).toEqual([1, 1, 1]);
  });

  it('puts victims back at the front of the queue', () => {
    const { outcomes, run } = toyReplica([...pair(), { at: 50, input: 1 }], {
      config: { totalKvBlocks: 4, maxNumSeqs: 2 },
    });
    run();
    expect(outcomes.schedulingDelayUs[1]).toBe(87);
    expect(outcomes.schedulingDelayUs[2]).toBeGreaterThan(87 - 50);
  });

  it('puts several victims back in the order they had', () => {
    const { replica, events, run } = toyReplica(
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

  it('of the asking request itself ends the step for those behind it', () => {
    const { replica, outcomes, events, run } = toyReplica(pair({ slo: 'background' }, { slo: 'critical' }), {
      config: { totalKvBlocks: 4, preemptionPolicy: 'priority' },
    });
    run();
    // At 76 the first asks and is itself the least urgent: the second gets nothing in a step of 1 us, which is no gap.
    // The first comes back 77..91, but at 103 it needs a block again, and only gets it when the second has left at 114.
    expect([outcomes.schedulingDelayUs[0], outcomes.ttftUs[0], replica.preemptions]).toEqual([114, 127, 2]);
    expect(outcomes.e2eUs[1]).toBe(16 + 5 * 12 + 14 + 12 + 11);
    expect(events.find(({ row, what }) => row === 1 && what === 'completed')?.atUs).toBe(114);
  });

  it('of somebody before the asking request does not make anyone miss the step', () => {
    const { outcomes, run } = toyReplica(pair({ slo: 'background', input: 2 }, { slo: 'critical' }), {
      config: { totalKvBlocks: 4, preemptionPolicy: 'priority' },
    });
    run();
    // 0..15 both prompts, five steps of 12. At 75 the first has its token already when the second asks for a block.
    expect([outcomes.schedulingDelayUs[0], outcomes.ttftUs[0]]).toEqual([86, 99]);
    expect(outcomes.e2eUs[1]).toBe(15 + 5 * 12 + 11 + 13 + 12);
  });

  it('may hit a prompt that is half done; what it computed is lost when its blocks are taken', () => {
    const { replica, outcomes, run } = toyReplica(
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

  it('leaves computed prompt blocks behind for the return', () => {
    const { replica, outcomes, run } = toyReplica(
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

  it('of a request whose deadline comes before its return', () => {
    const { replica, status, run } = toyReplica(pair({}, { deadline: 80 }), { config: { totalKvBlocks: 4 } });
    run();
    expect([status(1), replica.timedOut, replica.queueDepth, replica.kv.pool.free]).toEqual(['timed_out', 1, 0, 4]);
  });
});

describe('memory for the last token', () => {
  it('that is not there is counted, and the request completes', () => {
    // Four tokens of prompt fill the only block; the one output token has no place.
    const { replica, status, run } = toyReplica([{ input: 4, output: 1 }], {
      config: { totalKvBlocks: 1, maxModelLen: 5 },
    });
    run();
    expect([status(0), replica.allocationFailures]).toEqual(['completed', 1]);
  });
});
