import { describe, expect, it } from 'vitest';
import { finishedRequest } from '../request/finished-request.fixture.js';
import { RequestSamples } from './request-samples.js';

const sample = (change: Parameters<typeof finishedRequest>[0] = {}) => finishedRequest(change);

describe('RequestSamples', () => {
  it('keeps what a fit needs, counted from when the request was sent to its replica', () => {
    const samples = new RequestSamples();
    samples.add(sample({ replicaId: 'b' }), 3);
    expect(samples.columns()).toEqual({
      count: 1,
      arrivalUs: Float64Array.of(10_002_500),
      ttftUs: Float64Array.of(147_500),
      e2eUs: Float64Array.of(997_500),
      inputTokens: Int32Array.of(100),
      cachedTokens: Int32Array.of(64),
      outputTokens: Int32Array.of(20),
      inFlight: Int32Array.of(3),
      replica: Int32Array.of(0),
      replicaIds: ['b'],
    });
  });

  it.each([
    ['was not streamed', { isStreamed: false, firstTokenUs: -1 }],
    ['failed', { outcome: 'upstream_error' as const }],
    ['has estimated tokens', { isMetered: false }],
  ])('keeps the load of a request that %s, but no latency', (_, change) => {
    const samples = new RequestSamples();
    samples.add(sample(change), 0);
    const { count, e2eUs, inputTokens, ttftUs } = samples.columns();
    expect([count, inputTokens[0]]).toEqual([1, 100]);
    expect([ttftUs[0], e2eUs[0]]).toEqual([Number.NaN, Number.NaN]);
  });

  it('gives samples in order of arrival, from a moment on', () => {
    const samples = new RequestSamples();
    for (const dispatchedUs of [30, 10, 20]) samples.add(sample({ dispatchedUs, endedUs: 100 }), 0);
    expect([...samples.columns().arrivalUs]).toEqual([10, 20, 30]);
    expect([...samples.columns(20).arrivalUs]).toEqual([20, 30]);
  });

  it('overwrites the oldest samples when it is full', () => {
    const samples = new RequestSamples(300);
    for (let i = 0; i < 700; i++) samples.add(sample({ dispatchedUs: i }), 0);
    const { arrivalUs, count } = samples.columns();
    expect([count, arrivalUs[0], arrivalUs[299], samples.total]).toEqual([300, 400, 699, 700]);
  });

  it('starts over when replicas come and go without end', () => {
    const samples = new RequestSamples();
    for (let i = 0; i < 1025; i++) samples.add(sample({ replicaId: `r${i}`, dispatchedUs: i * 600e6 }), 0);
    const { arrivalUs, count, replicaIds } = samples.columns();
    expect([count, replicaIds, arrivalUs[0]]).toEqual([1, ['r1024'], 1024 * 600e6]);
  });

  it('samples sixteen replicas of a large fleet, so that a fit has enough of each, and others when these have left', () => {
    const samples = new RequestSamples();
    const round = (from: number, to: number, atUs: number) => {
      for (let i = from; i < to; i++) samples.add(sample({ replicaId: `r${i}`, dispatchedUs: atUs + i }), 0);
    };
    for (let i = 0; i < 100; i++) round(0, 64, i * 1e6);
    expect([samples.count, samples.mostOfOneReplica(), samples.columns().replicaIds.length]).toEqual([1600, 100, 16]);
    // Half of the sixteen have left.
    for (let i = 100; i < 2000; i++) round(8, 64, i * 1e6);
    expect(samples.columns().replicaIds).toHaveLength(24);
    expect(samples.mostOfOneReplica(1990e6)).toBe(10);
  });

  it('takes no more memory after a million requests than after the first few thousand', () => {
    const samples = new RequestSamples();
    const request = { ...sample() };
    for (let i = 0; i < 5000; i++) samples.add(request, 0);
    const before = samples.bytes;
    for (let i = 0; i < 1_000_000; i++) samples.add(request, 0);
    expect(samples.bytes).toBe(before);
    expect(before).toBeLessThan(256 * 1024);
    expect(samples.count).toBe(4096);
  });
});
