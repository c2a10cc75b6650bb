import { describe, expect, it } from 'vitest';
import { CountedValues } from '../../kernel/counted-values.js';
import { fakeReplica, writtenOut } from '../../replica/fake-replica.fixture.js';
import { STATUS } from '../../replica/request-outcomes.js';
import { NO_SPREAD } from './latency-spread.js';
import type { RequestSample } from './request-sample.js';
import { countStatuses, type ReplicaTotals, servingMetrics, sumTotals, totalsOf } from './serving-metrics.js';

const EMPTY: ReplicaTotals = {
  completed: 0,
  lengthCapped: 0,
  dropped: 0,
  timedOut: 0,
  stillQueued: 0,
  stillRunning: 0,
  inputTokens: 0,
  outputTokens: 0,
  preemptions: 0,
  allocationFailures: 0,
  promptTokens: 0,
  cachedPromptTokens: 0,
  endUs: 0,
  cacheHitRate: 0,
  gaps: new CountedValues(),
};

function gapsOf(...pairs: [us: number, count: number][]): CountedValues {
  const gaps = new CountedValues();
  for (const [us, count] of pairs) gaps.add(us, count);
  return gaps;
}

const NOTHING: RequestSample = {
  ttft: NO_SPREAD,
  e2e: NO_SPREAD,
  schedulingDelayP99Ms: 0,
  completed: 0,
  ttftUs: { mean_us: 0, p99_us: 0 },
  e2eUs: { mean_us: 0, p99_us: 0 },
};

describe('totalsOf', () => {
  it('reads a finished replica', () => {
    const { replica, run } = fakeReplica([
      { input: 4, output: 3 },
      { at: 100, input: 4, output: 2, deadline: 105 },
      { at: 200, input: 4000 },
    ]);
    run();
    expect(totalsOf(replica, Number.POSITIVE_INFINITY)).toMatchObject({
      completed: 1,
      timedOut: 1,
      dropped: 1,
      inputTokens: 8,
      outputTokens: 3,
      promptTokens: 8,
      endUs: 200,
    });
  });

  it('ends no later than the horizon', () => {
    const { replica, run } = fakeReplica([{ input: 4 }]);
    run();
    expect([totalsOf(replica, 1000).endUs, totalsOf(replica, 9).endUs]).toEqual([14, 9]);
  });
});

describe('sumTotals', () => {
  it('adds up counts, averages hit rates and takes the latest end', () => {
    const sum = sumTotals([
      { ...EMPTY, completed: 2, preemptions: 1, endUs: 50, cacheHitRate: 0.5 },
      { ...EMPTY, completed: 3, dropped: 4, endUs: 70, cacheHitRate: 0 },
    ]);
    expect(sum).toMatchObject({ completed: 5, preemptions: 1, dropped: 4, endUs: 70, cacheHitRate: 0.25 });
  });

  it('pools the gaps between tokens', () => {
    const sum = sumTotals([
      { ...EMPTY, gaps: gapsOf([10, 2]) },
      { ...EMPTY, gaps: gapsOf([20, 1]) },
    ]);
    expect(writtenOut(sum.gaps)).toEqual([10, 10, 20]);
  });

  it('of no replicas is all zero', () => {
    expect(sumTotals([])).toMatchObject({ completed: 0, endUs: 0, cacheHitRate: 0 });
  });
});

describe('servingMetrics', () => {
  it('counts everything that reached a replica as injected', () => {
    const totals = { ...EMPTY, completed: 1, stillQueued: 2, stillRunning: 4, dropped: 8, timedOut: 16 };
    expect(servingMetrics(totals, NOTHING, 0).injected_requests).toBe(31);
  });

  it('gives rates over the duration', () => {
    const totals = { ...EMPTY, completed: 4, outputTokens: 10, endUs: 2_000_000 };
    expect(servingMetrics(totals, NOTHING, 0)).toMatchObject({
      duration_s: 2,
      responses_per_sec: 2,
      tokens_per_sec: 5,
    });
  });

  it('pools gaps of all tokens and adds the overhead of each', () => {
    const gaps = gapsOf([1000, 3], [3000, 1]);
    const metrics = servingMetrics({ ...EMPTY, completed: 1, gaps }, NOTHING, 500);
    expect([metrics.itl_mean_ms, metrics.itl_p50_ms, metrics.itl_max_ms]).toEqual([2, 1.5, 3.5]);
  });

  it('counts first tokens and delays of requests that did not complete', () => {
    const sample = { ...NOTHING, ttft: { ...NO_SPREAD, mean: 2 }, schedulingDelayP99Ms: 0.199 };
    const metrics = servingMetrics({ ...EMPTY, completed: 1 }, sample, 0);
    expect([metrics.ttft_mean_ms, metrics.scheduling_delay_p99_ms]).toEqual([2, 0.199]);
  });

  it('reports zero latencies and rates while nothing has completed', () => {
    const sample = { ...NOTHING, ttft: { ...NO_SPREAD, mean: 1 }, schedulingDelayP99Ms: 0.1 };
    const metrics = servingMetrics({ ...EMPTY, stillRunning: 1, outputTokens: 5, endUs: 1e6 }, sample, 0);
    expect(metrics).toMatchObject({ ttft_mean_ms: 0, scheduling_delay_p99_ms: 0, tokens_per_sec: 0, itl_p99_ms: 0 });
  });

  it('gives the share of prompt tokens that were cached', () => {
    expect(servingMetrics({ ...EMPTY, promptTokens: 40, cachedPromptTokens: 10 }, NOTHING, 0)).toMatchObject({
      prompt_cache_hit_rate: 0.25,
    });
    expect(servingMetrics(EMPTY, NOTHING, 0).prompt_cache_hit_rate).toBe(0);
  });

  it('has no rate in no time', () => {
    const metrics = servingMetrics({ ...EMPTY, completed: 1, outputTokens: 1 }, NOTHING, 0);
    expect([metrics.responses_per_sec, metrics.tokens_per_sec]).toEqual([0, 0]);
  });
});

describe('countStatuses', () => {
  it('counts the rows that exist', () => {
    const count = countStatuses(Uint8Array.of(STATUS.completed, STATUS.rejected, STATUS.completed, 0, 0), 4);
    expect([count('completed'), count('rejected'), count('not_arrived'), count('dropped')]).toEqual([2, 1, 1, 0]);
  });
});
