import { describe, expect, it } from 'vitest';
import { fakeReplica } from '../fake-replica.fixture.js';

// A step takes 10 us and 1 us per token; blocks hold 4 tokens.

describe('a prefix that was computed before', () => {
  it('is not computed again', () => {
    const { replica, outcomes, run } = fakeReplica([
      { input: 12, group: 'g', prefix: 8 },
      { at: 100, input: 12, group: 'g', prefix: 8 },
    ]);
    run();
    expect(Array.from(outcomes.ttftUs)).toEqual([22, 14]);
    // Each prompt ends in a block of its own, and so does each output token.
    expect([replica.kv.hits, replica.kv.misses, replica.cacheHitRate]).toEqual([2, 6, 0.25]);
    expect([replica.promptTokens, replica.cachedPromptTokens]).toEqual([24, 8]);
  });

  it('can be shared within the step that computes it', () => {
    const { outcomes, run } = fakeReplica([
      { input: 12, group: 'g', prefix: 8 },
      { input: 12, group: 'g', prefix: 8 },
    ]);
    run();
    expect(Array.from(outcomes.ttftUs)).toEqual([10 + 12 + 4, 26]);
  });

  it('counts whole blocks only', () => {
    const { replica, run } = fakeReplica([
      { input: 12, group: 'g', prefix: 7 },
      { at: 100, input: 12, group: 'g', prefix: 7 },
    ]);
    run();
    expect([replica.kv.hits, replica.cachedPromptTokens]).toEqual([1, 4]);
  });

  it('is not known to requests of another group', () => {
    const { replica, run } = fakeReplica([
      { input: 12, group: 'g' },
      { at: 100, input: 12, group: 'h' },
    ]);
    run();
    expect(replica.kv.hits).toBe(0);
  });
});

describe('a prompt that is in the cache as a whole', () => {
  it('takes a step of 1 us and claims nothing; its output starts on a new block', () => {
    const { replica, outcomes, runUntil, run } = fakeReplica([
      { input: 8, group: 'g' },
      { at: 100, input: 8, output: 2, group: 'g' },
    ]);
    runUntil(101);
    expect([replica.batchSize, replica.kv.pool.used, replica.kv.hits]).toEqual([1, 0, 0]);
    runUntil(102);
    expect(replica.kv.misses).toBe(2 + 1 + 1);
    run();
    expect([outcomes.ttftUs[1], outcomes.e2eUs[1]]).toEqual([1, 12]);
  });

  it('costs no budget: any number of them gets seats in one step', () => {
    const hit = { at: 100, input: 8, output: 2, group: 'g' };
    const { replica, outcomes, run } = fakeReplica(
      [{ input: 8, group: 'g' }, ...Array.from({ length: 600 }, () => hit), { at: 100, input: 5, output: 2 }],
      { config: { totalKvBlocks: 1000, maxNumSeqs: 1000, maxNumBatchedTokens: 1000 } },
    );
    run();
    expect(replica.counters.completed).toBe(602);
    expect(outcomes.ttftUs[601]).toBe(15);
    expect([replica.kv.pool.used, replica.kv.ownedBlocks()]).toEqual([0, 0]);
  });
});

describe('a session whose context grows', () => {
  it('finds its earlier turns, outputs included, except for the last token', () => {
    const turn = { session: 's', grows: true };
    const { replica, outcomes, run } = fakeReplica([
      { input: 6, output: 7, ...turn },
      { at: 1000, input: 16, round: 1, ...turn },
    ]);
    run();
    // 6 + 6 tokens of the first turn are three full blocks; four tokens are new.
    expect([replica.kv.hits, outcomes.ttftUs[1]]).toEqual([3, 14]);
  });

  it('does not find a block that the output has not filled', () => {
    const turn = { session: 's', grows: true };
    const { replica, outcomes, run } = fakeReplica([
      { input: 6, output: 6, ...turn },
      { at: 1000, input: 15, round: 1, ...turn },
    ]);
    run();
    expect([replica.kv.hits, outcomes.ttftUs[1]]).toEqual([2, 17]);
  });

  it('is remembered beside others that need a block in the same step', () => {
    const turn = { grows: true, output: 7 };
    const { replica, run } = fakeReplica([
      { input: 6, session: 'a', ...turn },
      { input: 7, session: 'b', ...turn },
      { input: 6, session: 'c', ...turn },
      { at: 1000, input: 13, session: 'a', round: 1, grows: true },
      { at: 2000, input: 14, session: 'b', round: 1, grows: true },
      { at: 3000, input: 13, session: 'c', round: 1, grows: true },
    ]);
    run();
    expect(replica.kv.hits).toBe(3 + 3 + 3);
  });
});
