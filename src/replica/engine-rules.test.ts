import { describe, expect, it } from 'vitest';
import { ENGINE_RULES, engineRules } from './engine-rules.js';
import { type FakeRequest, fakeReplica } from './fake-replica.fixture.js';
import type { BatchShape } from './latency/contract.js';

// A step takes 10 us and 1 us per token; blocks hold 4 tokens.

const V1 = { engineRules: 'vllm-v1' };

describe('engineRules', () => {
  it('finds rules by name, and the classic ones without one', () => {
    expect(engineRules(undefined)).toBe(engineRules('classic'));
    for (const rules of ENGINE_RULES) expect(engineRules(rules.name)).toBe(rules);
  });

  it('names the nearest for unknown ones', () => {
    expect(() => engineRules('vllm-v2')).toThrow(
      expect.objectContaining({
        code: 'REPLICA_UNKNOWN_RULES',
        place: '--engine-rules',
        hint: "did you mean 'vllm-v1'? known: classic, vllm-v1, vllm-v1-async",
      }),
    );
  });
});

describe('a prompt that is wholly in the cache', () => {
  const twice: FakeRequest[] = [
    { input: 8, output: 1, group: 'g', prefix: 8 },
    { at: 100, input: 8, output: 1, group: 'g', prefix: 8 },
  ];

  it('costs nothing by the classic rules', () => {
    const { outcomes, run } = fakeReplica(twice);
    run();
    expect([outcomes.ttftUs[0], outcomes.ttftUs[1]]).toEqual([18, 1]);
  });

  it('has its last block computed again by those of vLLM', () => {
    const { outcomes, replica, run } = fakeReplica(twice, { config: V1 });
    run();
    expect([outcomes.ttftUs[0], outcomes.ttftUs[1]]).toEqual([18, 14]);
    expect(replica.cachedPromptTokens).toBe(4);
  });
});

describe('a preempted request', () => {
  // Six blocks: both prompts fit, and four tokens of each response. Then the first needs a block, and the second goes.
  const pair: FakeRequest[] = [
    { input: 8, output: 9 },
    { input: 8, output: 9 },
  ];
  const config = { totalKvBlocks: 6, maxModelLen: 24 };
  const many = Array.from({ length: 6 }, (_, i): FakeRequest => ({ at: 10 * i, input: 5, output: 15 }));
  const crowded = { totalKvBlocks: 7, maxModelLen: 28, maxNumBatchedTokens: 6, ...V1 };

  it('starts its output over by the classic rules', () => {
    const { outcomes, replica, run, gaps } = fakeReplica(pair, { config });
    run();
    expect(replica.preemptions).toBe(1);
    expect(outcomes.ttftUs[1]).toBeGreaterThan(outcomes.ttftUs[0]!);
    expect(gaps()).toHaveLength(16);
  });

  it('keeps it by those of vLLM, and computes it again together with its prompt', () => {
    const shapes: number[][] = [];
    const stepUs = ({ decodes, prefillTokens }: BatchShape) => {
      shapes.push([decodes, prefillTokens]);
      return 10 + decodes + prefillTokens;
    };
    const { outcomes, events, replica, run, gaps, status } = fakeReplica(pair, {
      config: { ...config, ...V1 },
      latency: { stepUs },
    });
    run();
    expect([replica.preemptions, status(1)]).toEqual([1, 'completed']);
    // Prompts, four steps of two, four of one; then the 8 tokens of the prompt and 5 of the response, of which 2 blocks are left.
    expect(shapes).toEqual([
      [0, 16],
      ...Array.from({ length: 4 }, () => [2, 0]),
      ...Array.from({ length: 4 }, () => [1, 0]),
      [0, 5],
      ...Array.from({ length: 3 }, () => [1, 0]),
    ]);
    // 26, then 4 x 12 and 4 x 11; the second one's fifth gap is those four steps and the one that computes it again.
    expect([outcomes.ttftUs[0], outcomes.ttftUs[1]]).toEqual([26, 26]);
    expect([outcomes.e2eUs[0], outcomes.e2eUs[1]]).toEqual([26 + 48 + 44, 26 + 48 + 44 + 15 + 33]);
    expect(gaps()).toEqual([...Array(7).fill(11), ...Array(8).fill(12), 44 + 15]);
    expect(outcomes.schedulingDelayUs[1]).toBe(0);
    expect(events.filter(({ row, what }) => row === 1 && what === 'first token')).toHaveLength(1);
  });

  it('has never fewer tokens than before, not even while it computes them again', () => {
    const { replica, runUntil } = fakeReplica(many, { config: crowded });
    const had = new Map<number, number>();
    for (let us = 0; us < 3000; us++) {
      runUntil(us);
      for (let place = 0; place < replica.batchSize; place++) {
        const row = replica.rowAt(place);
        expect(replica.producedAt(place)).toBeGreaterThanOrEqual(had.get(row) ?? 0);
        had.set(row, replica.producedAt(place));
      }
    }
    expect([replica.counters.completed, had.size]).toEqual([6, 6]);
  });

  it('may be preempted again and again', () => {
    const { outcomes, replica, run, gaps } = fakeReplica(many, { config: crowded });
    run();
    expect(replica.preemptions).toBeGreaterThan(6);
    expect(gaps()).toHaveLength(6 * 14);
    const waited = gaps().reduce((sum, us) => sum + us, 0);
    const measured = many.reduce((sum, _, row) => sum + outcomes.e2eUs[row]! - outcomes.ttftUs[row]!, 0);
    expect(waited).toBe(measured);
    expect(replica.kv.pool.used).toBe(0);
  });

  it('leaves nothing behind when it is lost before it comes back', () => {
    const { gaps, run, status } = fakeReplica([pair[0]!, { ...pair[1]!, deadline: 90 }], {
      config: { ...config, ...V1 },
    });
    run();
    expect(status(1)).toBe('timed_out');
    expect(gaps()).toHaveLength(8);
  });
});

describe('an engine that puts steps together ahead of time', () => {
  const config = { engineRules: 'vllm-v1-async' };
  const busy = { input: 4, output: 6 };

  it('admits a request that arrives during a step to the next but one', () => {
    const { outcomes, run } = fakeReplica([busy, { at: 20, input: 4 }], { config });
    run();
    // Steps end at 14, 25, 36; the one from 25 on was put together before the request was there.
    expect(outcomes.schedulingDelayUs[1]).toBe(36 - 20);
  });

  it('admits a request at once when the engine is idle', () => {
    const { outcomes, run } = fakeReplica([{ at: 7, input: 4 }], { config });
    run();
    expect(outcomes.ttftUs[0]).toBe(14);
  });

  it('does not lose a request that arrives while the last one ends', () => {
    const { outcomes, run, status } = fakeReplica(
      [
        { input: 4, output: 2 },
        { at: 12, input: 4 },
      ],
      { config },
    );
    run();
    expect([status(1), outcomes.schedulingDelayUs[1]]).toEqual(['completed', 25 - 12]);
  });

  it('counts a request that is not yet queued as waiting, and releases it', () => {
    const { replica, runUntil, status } = fakeReplica([busy, { at: 20, input: 4, deadline: 22 }], { config });
    runUntil(21);
    expect([replica.queueDepth, replica.isBusy]).toEqual([1, true]);
    runUntil(23);
    expect([replica.queueDepth, status(1)]).toEqual([0, 'timed_out']);
  });
});

describe('a request that comes while the last one is in its last step', () => {
  const list: FakeRequest[] = [
    { input: 4, output: 1 },
    { at: 5, input: 4, output: 1 },
  ];

  it('begins at once by the classic rules', () => {
    const { outcomes, run } = fakeReplica(list);
    run();
    expect(outcomes.schedulingDelayUs[1]).toBe(0);
  });

  it('waits for the end of that step by those of vLLM', () => {
    const { outcomes, run } = fakeReplica(list, { config: V1 });
    run();
    expect(outcomes.schedulingDelayUs[1]).toBe(14 - 5);
  });
});

describe('the last token of an output', () => {
  it('is stored by the classic rules only', () => {
    const blocks = (config: object) => {
      const { replica, run } = fakeReplica([{ input: 4, output: 1 }], { config });
      run();
      return replica.kv.misses;
    };
    expect([blocks({}), blocks(V1)]).toEqual([2, 1]);
  });
});
