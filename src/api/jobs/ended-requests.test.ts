import { describe, expect, it } from 'vitest';
import { EndedRequests } from './ended-requests.js';

const request = (ms: number, outcome = 'ok') =>
  ({ arrivedUs: 0, firstTokenUs: ms * 1000, endedUs: ms * 1000 + 5, outcome }) as Parameters<EndedRequests['add']>[0];

describe('EndedRequests', () => {
  it('keeps a bounded number of them, evenly over time', () => {
    const requests = new EndedRequests('ttft_p50', 64);
    for (let ms = 0; ms < 10_000; ms++) requests.add(request(ms));
    const { least, requests: count, value } = requests.measure();
    expect(count).toBe(10_000);
    expect(Math.abs(value - 5000)).toBeLessThan(300);
    expect(least).toBeLessThan(value);
  });

  it('counts failures, and leaves out what clients ended', () => {
    const requests = new EndedRequests('errors');
    for (const outcome of ['ok', 'ok', 'upstream_error', 'client_left']) requests.add(request(5, outcome));
    expect(requests.measure()).toMatchObject({ value: 1 / 3, requests: 3 });
    const times = new EndedRequests('ttft_mean');
    times.add({ ...request(5), firstTokenUs: -1 });
    times.add(request(9, 'upstream_error'));
    expect(times.measure()).toEqual({ value: 0, least: 0, requests: 0 });
  });

  it('says how low the metric may be in truth: nearer for many requests', () => {
    const leastOf = (count: number) => {
      const requests = new EndedRequests('ttft_mean');
      for (let i = 0; i < count; i++) requests.add(request(i % 2 === 0 ? 50 : 150));
      return requests.measure().least;
    };
    expect(leastOf(50)).toBeCloseTo(100 - 3 * Math.sqrt(2500 / 49), 6);
    expect(leastOf(5000)).toBeGreaterThan(97);
  });
});
