import { describe, expect, it } from 'vitest';
import { type FakeRequest, fakeReplica } from '../fake-replica.fixture.js';
import type { BatchShape } from '../latency/contract.js';
import type { ReplicaModelConfig } from '../replica-model-config.js';

// A step takes 10 us and 1 us per token; blocks hold 4 tokens.

describe('the token budget of a step', () => {
  it('cuts a long prompt into chunks', () => {
    const { outcomes, run } = fakeReplica([{ input: 20 }], { config: { maxNumBatchedTokens: 8 } });
    run();
    expect(outcomes.ttftUs[0]).toBe(18 + 18 + 14);
  });

  it('goes to running requests first; a waiting prompt gets what is left', () => {
    const { outcomes, run } = fakeReplica(
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
    const { outcomes, run } = fakeReplica([{ input: 12 }, { input: 3 }], {
      config: { longPrefillTokenThreshold: 5 },
    });
    run();
    // 0..18: 5 and 3. 18..33: 5. 33..45: 2.
    expect(Array.from(outcomes.ttftUs)).toEqual([45, 18]);
  });

  it('makes decoding requests at the end of the batch sit a step out', () => {
    // Empty prompts cost no tokens: three requests get a seat in a step with a budget of two.
    const empty = { input: 0, output: 3 };
    const { outcomes, events, gaps, run } = fakeReplica([empty, empty, empty], { config: { maxNumBatchedTokens: 2 } });
    run();
    // 0..1 nothing. 1..13 and 13..25: the first two. 25..36 and 36..47: the third, all alone.
    expect(Array.from(outcomes.e2eUs)).toEqual([25, 25, 23]);
    // A step that was sat out is no gap between tokens, so the third leaves later than its latency says.
    expect(events.at(-1)).toEqual({ toldUs: 36, row: 2, what: 'completed', atUs: 47 });
    expect(gaps()).toEqual([11, 11, 12, 12, 12, 12]);
  });
});

describe('the shape of a step for the latency model', () => {
  /** Every step's sums, without those that are zero. */
  function shapesOf(list: readonly FakeRequest[], config: Partial<ReplicaModelConfig>) {
    const shapes: Partial<BatchShape>[] = [];
    const stepUs = (shape: BatchShape) => {
      shapes.push(Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== 0)));
      return 10;
    };
    fakeReplica(list, { config, latency: { stepUs } }).run();
    return shapes;
  }
  const prefill = (tokens: number, done: number, full: number, causal: number, pairs: number, longest: number) => ({
    scheduled: 1,
    prefills: 1,
    prefillTokens: tokens,
    ...(done === 0 ? {} : { prefillContext: done }),
    prefillFullAttention: full,
    prefillCausalAttention: causal,
    prefillPairs: pairs,
    prefillLongest: longest,
  });
  const decode = (decodes: number, decodeContext: number) => ({ scheduled: decodes, decodes, decodeContext });

  it('are new tokens and what they attend to, chunk by chunk', () => {
    // 8 x (10 + 8 / 2), 8 x (0 + 7 / 2) and 1 + ... + 8; then 2 x (10 + 2 / 2), 2 x (8 + 1 / 2) and 9 + 10.
    expect(shapesOf([{ input: 10 }], { maxNumBatchedTokens: 8 })).toEqual([
      prefill(8, 0, 112, 28, 36, 8),
      prefill(2, 8, 22, 17, 19, 10),
    ]);
  });

  it('count a cached prefix as done from the second chunk on, but attend to it at once', () => {
    const shared = { input: 16, group: 'g', prefix: 8 };
    const shapes = shapesOf([shared, { at: 1000, ...shared }], { maxNumBatchedTokens: 6 });
    // The second request has 8 of 16 tokens cached: 6 x (16 + 3), 6 x (0 + 5 / 2), then 2 x (16 + 1), 2 x (14 + 1 / 2).
    expect(shapes.slice(3)).toEqual([prefill(6, 0, 114, 15, 6 * 8 + 21, 14), prefill(2, 14, 34, 29, 15 + 16, 16)]);
  });

  it('are the contexts of decoding requests', () => {
    const pair = [
      { input: 4, output: 3 },
      { input: 6, output: 2 },
    ];
    expect(shapesOf(pair, {}).slice(1)).toEqual([decode(2, 10), decode(1, 5)]);
  });

  it('are single contexts and the memory in use for a model that needs them', () => {
    const shapes: number[][] = [];
    const stepUs = ({ decodes, decodeContext, decodeLongest, heldTokens }: BatchShape) => {
      shapes.push([decodes, decodeContext, decodeLongest, heldTokens]);
      return 10;
    };
    const list = [
      { input: 4, output: 3 },
      { input: 6, output: 2 },
    ];
    fakeReplica(list, { latency: { readsContexts: true, stepUs } }).run();
    // Blocks of 4 tokens: 1 + 2, then another one for the first request, then the second has left.
    expect(shapes).toEqual([
      [0, 0, 0, 12],
      [2, 10, 6, 16],
      [1, 5, 5, 8],
    ]);
  });

  it('are the same whether steps are formed one by one or run on', () => {
    const shapesOf = (advance: boolean) => {
      const shapes: BatchShape[] = [];
      const stepUs = (shape: BatchShape) => {
        shapes.push({ ...shape });
        return 10;
      };
      const list = [40, 7, 12, 30].map((output, i) => ({ input: 5 + 3 * i, output }));
      const { replica, run, runUntil } = fakeReplica(list, { latency: { readsContexts: true, stepUs } });
      if (advance) {
        runUntil(1);
        replica.advance(Number.POSITIVE_INFINITY);
      } else {
        run();
      }
      return shapes;
    };
    expect(shapesOf(true)).toEqual(shapesOf(false));
    expect(shapesOf(true).length).toBe(40);
  });

  it('leave out requests that sit the step out', () => {
    const empty = { input: 0, output: 3 };
    expect(shapesOf([empty, empty, empty], { maxNumBatchedTokens: 2 })).toEqual([
      { scheduled: 2, decodes: 2 },
      decode(2, 2),
      { scheduled: 1, decodes: 1 },
      decode(1, 1),
    ]);
  });
});

describe('seats', () => {
  it('limit how many requests run at once', () => {
    const { outcomes, run } = fakeReplica([{ input: 4 }, { input: 4 }, { input: 4 }], { config: { maxNumSeqs: 2 } });
    run();
    expect(Array.from(outcomes.schedulingDelayUs)).toEqual([0, 0, 18]);
  });

  it('go in the order of the scheduler', () => {
    const { outcomes, run } = fakeReplica([{ input: 9 }, { input: 5 }, { input: 7 }], {
      config: { maxNumSeqs: 1, scheduler: 'sjf' },
    });
    run();
    // Shortest first: 0..15, 15..32, 32..51.
    expect(Array.from(outcomes.schedulingDelayUs)).toEqual([32, 0, 15]);
  });
});

describe('a head of the queue that does not fit in memory', () => {
  it('blocks requests behind it, and preempts none', () => {
    const { replica, outcomes, run } = fakeReplica(
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

describe('memory for the last token', () => {
  it('that is missing is counted, and the request completes', () => {
    // Four tokens of prompt fill the only block; the one output token has no place.
    const { replica, status, run } = fakeReplica([{ input: 4, output: 1 }], {
      config: { totalKvBlocks: 1, maxModelLen: 5 },
    });
    run();
    expect([status(0), replica.counters.allocationFailures]).toEqual(['completed', 1]);
  });
});
