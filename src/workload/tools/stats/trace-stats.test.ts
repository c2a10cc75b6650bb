import { describe, expect, it } from 'vitest';
import type { Trace } from '../../trace.js';
import { madeTrace } from '../made-trace.fixture.js';
import { traceStats } from './trace-stats.js';

const seconds = (s: number) => s * 1e6;

describe('traceStats', () => {
  it('measures rates from the first arrival to the last', () => {
    const at = [10, 10.4, 11, 11.3, 12, 80, 100].map(seconds);
    const { stats } = traceStats(madeTrace(at.map((us) => ({ at: us }))));
    expect(stats).toMatchObject({ format: 'trace-v2', requests: 7, duration_s: 90 });
    // 10.4 to 11.3 and 10 to 10.4 lie within a second; from 10 to 11 it is just not within one.
    expect(stats.rate).toMatchObject({ mean_per_s: 6 / 90, peak_per_second: 3, peak_per_minute: 5 });
    const gaps = [0.4, 0.6, 0.3, 0.7, 68, 20];
    const variance = gaps.reduce((sum, gap) => sum + (gap - 15) ** 2, 0) / 6;
    expect(stats.rate.gap_cv).toBeCloseTo(Math.sqrt(variance) / 15, 12);
  });

  it('has no rate when all arrive at once', () => {
    for (const rows of [[{}], [{ at: 5 }, { at: 5 }]]) {
      const { rate } = traceStats(madeTrace(rows)).stats;
      expect(rate).toEqual({
        mean_per_s: null,
        gap_cv: null,
        peak_per_second: rows.length,
        peak_per_minute: rows.length,
      });
    }
  });

  it('measures lengths and turns', () => {
    const { stats, series } = traceStats(
      madeTrace([
        { input: 10, output: 3, session: 'a', round: 0 },
        { input: 20, output: 1, session: 'a', round: 1 },
        { input: 60, output: 2 },
        { input: 30, output: 4, session: 'b', round: 0 },
      ]),
    );
    expect(stats.input_tokens).toEqual({
      total: 120,
      mean: 30,
      p50: 25,
      p90: expect.closeTo(51, 9),
      p99: expect.closeTo(59.1, 9),
      max: 60,
    });
    expect(stats.output_tokens).toMatchObject({ total: 10, mean: 2.5, max: 4 });
    expect(stats.chats).toEqual({ count: 2, requests: 3, turns: { mean: 1.5, p50: 1.5, p90: 1.9, p99: 1.99, max: 2 } });
    expect([...series.sortedTurns]).toEqual([1, 2]);
    expect(traceStats(madeTrace([{}])).stats.chats).toBeUndefined();
  });

  it('counts requests by name, most first', () => {
    const { stats } = traceStats(
      madeTrace([{ tenant: 'x', sloClass: 'batch' }, { tenant: 'y' }, { tenant: 'y', model: 'm' }, {}]),
    );
    expect(Object.entries(stats.tenants!)).toEqual([
      ['y', 2],
      ['x', 1],
    ]);
    expect([stats.slo_classes, stats.models, stats.clients]).toEqual([{ batch: 1 }, { m: 1 }, undefined]);
  });

  it('measures how much of the prompts could be reused, in recorded blocks', () => {
    const { stats } = traceStats(
      madeTrace([
        { at: 1, input: 1100, blocks: [0, 1, 2] },
        { at: 2, input: 700, blocks: [5, 6] },
        { at: 3, input: 1100, blocks: [0, 1, 2] },
      ]),
      { cacheBlocks: 2 },
    );
    expect(stats.prefix_reuse).toMatchObject({
      block_size: 512,
      infinite_cache: { reused_tokens: 1024, share: 1024 / 2900 },
      lru_cache: { blocks: 2, reused_tokens: 0, share: 0 },
      hot_prefixes: [{ tokens: 1024, uses: 2, reused_tokens: 1024, first_request: 'request_0' }],
    });
    expect(stats.recorded_blocks).toEqual({ tokens: 512, count: 8, distinct: 5, seen_before_share: 3 / 8 });
  });

  it('uses blocks of 16 tokens where none were recorded, or the given size', () => {
    const trace = madeTrace(Array.from({ length: 3 }, (_, at) => ({ at, input: 150, group: 'g', prefix: 100 })));
    const { prefix_reuse, recorded_blocks } = traceStats(trace).stats;
    expect(prefix_reuse).toMatchObject({ block_size: 16, infinite_cache: { reused_tokens: 192 } });
    expect([prefix_reuse.lru_cache, recorded_blocks]).toEqual([undefined, undefined]);
    const larger = traceStats(trace, { blockSize: 50, cacheBlocks: 9 }).stats.prefix_reuse;
    expect(larger).toMatchObject({ infinite_cache: { reused_tokens: 200 }, lru_cache: { reused_tokens: 200 } });
  });

  it('counts the whole prompts of growing sessions', () => {
    const chat = [
      { at: 1, session: 'a', round: 0, input: 64, output: 33 },
      { at: 2, session: 'a', round: 1, input: 10, output: 1 },
    ];
    const { stats } = traceStats(madeTrace(chat, { sessionContextGrowth: 'accumulate' }));
    expect(stats.input_tokens).toMatchObject({ total: 64 + 106, max: 106 });
    expect(stats.prefix_reuse.infinite_cache.reused_tokens).toBe(64);
  });

  it('has no reuse for empty prompts', () => {
    const { prefix_reuse } = traceStats(madeTrace([{ input: 0 }])).stats;
    expect(prefix_reuse.infinite_cache).toEqual({ reused_tokens: 0, share: 0 });
  });

  it('names what identifies shared beginnings', () => {
    const known = (trace: Trace) => traceStats(trace).stats.prefix_reuse.known_by;
    expect(known(madeTrace([{ session: 'a' }]))).toEqual([]);
    const all = [{ input: 600, blocks: [1] }, { session: 'a' }, { group: 'g', prefix: 9 }];
    expect(known(madeTrace(all))).toEqual(['recorded_blocks', 'prefix_groups']);
    expect(known(madeTrace(all, { sessionContextGrowth: 'accumulate' }))).toEqual([
      'recorded_blocks',
      'prefix_groups',
      'growing_chats',
    ]);
  });
});
