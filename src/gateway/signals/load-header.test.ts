import { describe, expect, it } from 'vitest';
import { readLoadHeader, withLoad } from './load-header.js';
import type { ReplicaSignals } from './replica-signals.js';

const NaNs = { running: Number.NaN, waiting: Number.NaN, kvUsed: Number.NaN };

describe('readLoadHeader', () => {
  it.each([
    [
      'TEXT named_metrics.kv_cache_usage_perc=0.25, named_metrics.num_requests_waiting=3',
      { ...NaNs, waiting: 3, kvUsed: 0.25 },
    ],
    ['text named_metrics.num_requests_running=7,other=1', { ...NaNs, running: 7 }],
    ['TEXT named_metrics.kv_cache_usage_perc=0', { ...NaNs, kvUsed: 0 }],
  ])('reads %s', (text, report) => {
    expect(readLoadHeader(text)).toEqual(report);
  });

  it.each([
    '',
    'TEXT',
    'TEXT ',
    'JSON {"named_metrics": {}}',
    'TEXT cpu_utilization=0.5',
    'TEXT named_metrics.num_requests_waiting=-1',
    'TEXT named_metrics.num_requests_waiting=',
    'TEXT named_metrics.num_requests_waiting',
    'TEXT named_metrics.num_requests_waiting=many, named_metrics.kv_cache_usage_perc=Infinity',
  ])('returns null for %j', (text) => {
    expect(readLoadHeader(text)).toBeNull();
  });
});

describe('withLoad', () => {
  const scraped: ReplicaSignals = {
    atUs: 100,
    running: 1,
    waiting: 2,
    kvUsed: 0.5,
    freeBlocks: 9,
    cacheHitRate: 0.1,
    missing: ['x'],
  };

  it('takes unreported values from the metrics while they are fresh', () => {
    expect(withLoad(scraped, { ...NaNs, waiting: 7 }, 150, 100)).toEqual({ ...scraped, atUs: 150, waiting: 7 });
    expect(withLoad(scraped, { running: 5, waiting: 6, kvUsed: 0.7 }, 150, 100)).toMatchObject({
      running: 5,
      kvUsed: 0.7,
    });
  });

  it('ignores metrics that are stale or absent', () => {
    for (const before of [scraped, null]) {
      expect(withLoad(before, { ...NaNs, waiting: 7 }, 150, 101)).toEqual({
        ...NaNs,
        atUs: 150,
        waiting: 7,
        freeBlocks: Number.NaN,
        cacheHitRate: Number.NaN,
        missing: [],
      });
    }
  });
});
