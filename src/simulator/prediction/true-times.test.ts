import { describe, expect, it } from 'vitest';
import { fakeConfig, fakeLatency, fakeRequests, fakeTable } from '../../replica/fake-replica.fixture.js';
import { scaledLatency } from '../../replica/latency/latency-range.js';
import { fakeCluster, simulateFake } from '../fake-cluster.fixture.js';
import { MOST_ORACLE_REQUESTS, TrueTimes } from './true-times.js';

const REQUESTS = [
  { at: 0, input: 20, output: 3 },
  { at: 5, input: 10, output: 1 },
];

function truthOf(list = REQUESTS) {
  const requests = fakeRequests(fakeTable(list));
  const fleet = [1, 1, 2.5].map((factor) => ({ config: fakeConfig(), scaled: scaledLatency(fakeLatency(), factor) }));
  return new TrueTimes(fleet, requests);
}

function alternative(truth: TrueTimes, replica: number) {
  const predictor = truth.predictorOf(replica);
  predictor.predict(0, 0, null as never);
  const { itlUs, totalUs, ttftUs } = predictor;
  return { ttftUs, itlUs, totalUs };
}

describe('TrueTimes', () => {
  it('is what the request takes on each replica, and what it costs the others there', () => {
    const truth = truthOf();
    truth.look(0, 0);
    // Steps of 30, 11 and 11 us.
    expect(alternative(truth, 0)).toEqual({ ttftUs: 30, itlUs: 11, totalUs: 52 });
    truth.placed(0, 0);
    truth.look(1, 5);
    // From 30 on it shares a step of 21 us: the first request ends 10 us later.
    expect(alternative(truth, 0)).toEqual({ ttftUs: 46, itlUs: 0, totalUs: 46 + 10 });
    expect(alternative(truth, 1)).toEqual({ ttftUs: 20, itlUs: 0, totalUs: 20 });
    expect(alternative(truth, 2)).toEqual({ ttftUs: 50, itlUs: 0, totalUs: 50 });
  });

  it('refuses a run that would take hours', () => {
    const many = Array.from({ length: MOST_ORACLE_REQUESTS + 1 }, (_, i) => ({ at: i, input: 1, output: 1 }));
    expect(() => truthOf(many)).toThrow('requests are too many');
  });
});

it('rejects sheddable requests whose target no replica can meet, and counts why', () => {
  const list = Array.from({ length: 20 }, (_, i) => ({ at: i, input: 40, output: 4, slo: i % 2 === 0 ? 'batch' : '' }));
  const routing = { policy: 'predicted-latency', options: { slo: { batch: { ttft_ms: 0.2 } }, shed: true } };
  const { cluster, anomalies } = simulateFake(list, fakeCluster({ routing })).document;
  expect(cluster.rejected_requests).toBeGreaterThan(2);
  expect(cluster.rejected_requests).toBeLessThan(10);
  expect(cluster.completed_requests).toBe(20 - cluster.rejected_requests);
  expect(anomalies.shed).toEqual({ batch: cluster.rejected_requests });
});

describe('the oracle', () => {
  const list = Array.from({ length: 60 }, (_, i) => ({ at: 13 * i, input: 5 + ((i * 7) % 40), output: 1 + (i % 9) }));
  const run = (policy: string, options: Record<string, unknown> = {}) =>
    simulateFake(list, fakeCluster({ instances: 3, slowFactors: [1, 1, 2.5], routing: { policy, options } }));

  it('knows the TTFT that the request then has, if no other disturbs it', () => {
    const { requests } = run('predicted-latency', { oracle: 'ttft' });
    const { requests: others } = run('round-robin');
    const mean = (rows: ReturnType<typeof requests>) =>
      rows.reduce((sum, { ttft_us }) => sum + (ttft_us ?? 0), 0) / rows.length;
    expect(mean(requests())).toBeLessThan(mean(others()));
  });

  it('keeps the sum of all times below that of every request for itself', () => {
    const sum = (options: Record<string, unknown>) =>
      run('predicted-latency', options)
        .requests()
        .reduce((total, { e2e_us }) => total + (e2e_us ?? 0), 0);
    expect(sum({ oracle: 'total' })).toBeLessThanOrEqual(sum({ oracle: 'ttft' }));
  });
});
