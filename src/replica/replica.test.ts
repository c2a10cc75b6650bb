import { describe, expect, it } from 'vitest';
import { fakeReplica } from './fake-replica.fixture.js';

// A step takes 10 us and 1 us per token; blocks hold 4 tokens.

describe('the life of a request', () => {
  it('with three output tokens: one prompt step and two decode steps', () => {
    const { replica, outcomes, events, run, gaps } = fakeReplica([{ at: 100, input: 4, output: 3 }], {
      latency: { queueingUs: 5, outputTokenUs: 3, postDecodeUs: 7 },
    });
    run();
    // Prompt 105..119, decode 119..130 and 130..141. Overheads are reported, but the clock does not know them.
    expect(outcomes.schedulingDelayUs[0]).toBe(5);
    expect(outcomes.ttftUs[0]).toBe(119 + 3 - 100);
    expect(outcomes.itlSumUs[0]).toBe(11 + 3 + 11 + 3);
    expect(outcomes.e2eUs[0]).toBe(22 + 28 + 7);
    expect(gaps()).toEqual([11, 11]);
    expect(replica.clockUs).toBe(141);
    // Events of a step are reported when the step starts.
    expect(events).toEqual([
      { toldUs: 105, row: 0, what: 'first token' },
      { toldUs: 130, row: 0, what: 'completed', atUs: 141 },
    ]);
  });

  it('gives its seat and its memory back when its last step starts', () => {
    const { replica, runUntil } = fakeReplica([{ input: 4, output: 2 }]);
    runUntil(14);
    expect([replica.batchSize, replica.kv.pool.used, replica.counters.completed]).toEqual([1, 1, 0]);
    runUntil(15);
    expect([replica.batchSize, replica.kv.pool.used, replica.counters.completed]).toEqual([0, 0, 1]);
  });

  it('ends with the prompt when one token is wanted', () => {
    const { outcomes, replica, run } = fakeReplica([{ input: 4, output: 1 }], {
      latency: { outputTokenUs: 3, postDecodeUs: 7 },
    });
    run();
    expect([outcomes.ttftUs[0], outcomes.e2eUs[0], outcomes.producedTokens[0]]).toEqual([17, 24, 1]);
    // The token that came out gets its place in memory too: one block for the prompt, one for the token.
    expect(replica.kv.misses).toBe(2);
  });

  it('ends the same way without output, but no token is counted, stored or processed', () => {
    const { outcomes, replica, run } = fakeReplica([{ input: 4, output: 0 }], {
      latency: { outputTokenUs: 3, postDecodeUs: 7 },
    });
    run();
    expect([outcomes.ttftUs[0], outcomes.e2eUs[0], outcomes.producedTokens[0]]).toEqual([17, 17, 0]);
    expect([replica.counters.outputTokens, replica.kv.misses]).toEqual([0, 1]);
  });

  it('with an empty prompt begins with a step of 1 us', () => {
    const { outcomes, run } = fakeReplica([{ input: 0, output: 2 }]);
    run();
    expect([outcomes.ttftUs[0], outcomes.e2eUs[0]]).toEqual([1, 12]);
  });

  it('with neither prompt nor output still ends', () => {
    const { outcomes, status, run } = fakeReplica([{ input: 0, output: 0 }]);
    run();
    expect([status(0), outcomes.e2eUs[0]]).toEqual(['completed', 1]);
  });

  it('counts what went in and out', () => {
    const { replica, run } = fakeReplica([
      { input: 4, output: 3 },
      { input: 6, output: 1 },
    ]);
    run();
    expect([replica.counters.completed, replica.counters.inputTokens, replica.counters.outputTokens]).toEqual([
      2, 10, 4,
    ]);
  });
});

describe('requests together', () => {
  it('share steps: a new request makes the step of the others longer', () => {
    const { outcomes, run, gaps } = fakeReplica([
      { input: 4, output: 3 },
      { at: 5, input: 6, output: 1 },
    ]);
    run();
    // 0..14 prompt of the first; 14..31 its token and the prompt of the second; 31..42 its last token.
    expect(Array.from(outcomes.e2eUs)).toEqual([42, 26]);
    expect(outcomes.schedulingDelayUs[1]).toBe(14 - 5);
    expect(gaps()).toEqual([11, 17]);
  });

  it('follow each other without a pause', () => {
    const { outcomes, run } = fakeReplica([{ input: 4 }, { input: 4 }], { config: { maxNumSeqs: 1 } });
    run();
    expect(Array.from(outcomes.schedulingDelayUs)).toEqual([0, 14]);
  });

  it('leave samples of the queue behind, one per step', () => {
    const { replica, run } = fakeReplica([{ input: 4 }, { input: 4 }, { input: 4 }], { config: { maxNumSeqs: 1 } });
    run();
    expect([replica.counters.steps, replica.counters.queueSamples]).toEqual([3, 2 + 1 + 0]);
  });
});

describe('a request that cannot be served', () => {
  it.each([
    ['a prompt as long as the longest request', { input: 10, output: 0 }],
    ['prompt and output together too long', { input: 4, output: 7 }],
  ])('is dropped: %s', (_, request) => {
    const { replica, status, events, run } = fakeReplica([request], { config: { maxModelLen: 10 } });
    run();
    expect([status(0), replica.counters.dropped, replica.counters.inputTokens]).toEqual(['dropped', 1, 0]);
    expect(events).toEqual([{ toldUs: 0, row: 0, what: 'lost', atUs: 0 }]);
  });

  it('is one whose prompt has more blocks than there are', () => {
    const { status, run } = fakeReplica([{ input: 9 }], { config: { totalKvBlocks: 2, maxModelLen: 100 } });
    run();
    expect(status(0)).toBe('dropped');
  });

  it('is not one that just fits', () => {
    const { status, run } = fakeReplica([{ input: 4, output: 6 }], { config: { maxModelLen: 10 } });
    run();
    expect(status(0)).toBe('completed');
  });
});

describe('a request that did not say how much it wants', () => {
  it('is stopped one token before the longest request', () => {
    const { replica, outcomes, status, run } = fakeReplica([{ input: 4, output: 20, openEnded: true }], {
      config: { maxModelLen: 10 },
    });
    run();
    // The prompt, then five tokens until the context is 9 long.
    expect([status(0), outcomes.e2eUs[0]]).toEqual(['length_capped', 14 + 5 * 11]);
    expect([replica.counters.completed, replica.counters.lengthCapped, replica.kv.misses]).toEqual([1, 1, 3]);
  });

  it('is left alone when it stops by itself', () => {
    const { replica, status, run } = fakeReplica([{ input: 4, output: 6, openEnded: true }], {
      config: { maxModelLen: 10 },
    });
    run();
    expect([status(0), replica.counters.lengthCapped]).toEqual(['completed', 0]);
  });
});

describe('a deadline', () => {
  it('has no effect from the moment the last step starts', () => {
    const { replica, outcomes, status, run } = fakeReplica([{ input: 4, output: 2, deadline: 14 }]);
    run();
    expect([status(0), outcomes.e2eUs[0], replica.counters.timedOut]).toEqual(['completed', 25, 0]);
  });

  it('takes a running request out of the batch; its first token stays on record', () => {
    const { replica, outcomes, events, status, runUntil, run } = fakeReplica([{ input: 4, output: 2, deadline: 13 }]);
    runUntil(14);
    expect([status(0), replica.batchSize, replica.kv.pool.used]).toEqual(['timed_out', 0, 0]);
    expect([outcomes.ttftUs[0], outcomes.e2eUs[0]]).toEqual([14, Number.NaN]);
    expect(events.at(-1)).toEqual({ toldUs: 13, row: 0, what: 'lost', atUs: 13 });
    run();
    // The step that was planned finds nothing to do.
    expect([replica.clockUs, replica.counters.steps, replica.nextUs]).toEqual([14, 1, Number.POSITIVE_INFINITY]);
  });

  it('takes a waiting request out of the queue', () => {
    const { replica, outcomes, status, run } = fakeReplica(
      [
        { input: 4, output: 9 },
        { input: 4, deadline: 20 },
      ],
      {
        config: { maxNumSeqs: 1 },
      },
    );
    run();
    expect([status(1), outcomes.schedulingDelayUs[1], replica.counters.timedOut]).toEqual(['timed_out', Number.NaN, 1]);
    expect(replica.counters.inputTokens).toBe(8);
  });

  it('does not make the step behind it come earlier', () => {
    const { outcomes, run } = fakeReplica([{ input: 4, output: 9, deadline: 5 }, { input: 4 }], {
      config: { maxNumSeqs: 1 },
    });
    run();
    expect(outcomes.schedulingDelayUs[1]).toBe(14);
  });

  it('that has passed when the request reaches the queue ends it there', () => {
    const { replica, status, events, run } = fakeReplica([{ input: 4, deadline: 30 }], { latency: { queueingUs: 30 } });
    run();
    expect([status(0), replica.counters.timedOut, replica.counters.inputTokens, replica.counters.steps]).toEqual([
      'timed_out',
      1,
      4,
      0,
    ]);
    expect(events).toEqual([{ toldUs: 30, row: 0, what: 'lost', atUs: 30 }]);
  });

  it('of a request that has left does not move the clock', () => {
    const { replica, run } = fakeReplica([{ input: 4, deadline: 1000 }]);
    run();
    expect(replica.clockUs).toBe(14);
  });
});

describe('the horizon', () => {
  it('lets everything up to and at it happen, and nothing after it', () => {
    const { replica, status, run } = fakeReplica([{ input: 4, output: 3 }], { horizonUs: 24 });
    run();
    // Steps start at 0, 14 and 25.
    expect([status(0), replica.batchSize, replica.counters.steps, replica.clockUs]).toEqual(['running', 1, 2, 14]);
  });

  it('does not cut the report of a request whose last step has started, only the clock', () => {
    const { replica, outcomes, status, run } = fakeReplica([{ input: 4, output: 3 }], { horizonUs: 25 });
    run();
    expect([status(0), outcomes.e2eUs[0], replica.clockUs]).toEqual(['completed', 36, 25]);
  });

  it('leaves requests in the queue', () => {
    const { replica, status, run } = fakeReplica([{ input: 4 }, { input: 4 }], {
      config: { maxNumSeqs: 1 },
      horizonUs: 13,
    });
    run();
    expect([status(1), replica.queueDepth]).toEqual(['queued', 1]);
  });

  it('keeps a request out of the queue whose queueing delay ends after it', () => {
    const { replica, status, run } = fakeReplica([{ input: 4 }], { latency: { queueingUs: 50 }, horizonUs: 49 });
    run();
    expect([status(0), replica.queueDepth, replica.isBusy]).toEqual(['not_arrived', 0, true]);
  });

  it('ignores deadlines after it', () => {
    const { status, run } = fakeReplica([{ input: 4, output: 30, deadline: 21 }], { horizonUs: 20 });
    run();
    expect(status(0)).toBe('running');
  });
});
