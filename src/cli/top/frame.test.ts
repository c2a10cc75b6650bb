import { describe, expect, it } from 'vitest';
import { readSamples } from '../../protocol/prometheus/read-samples.js';
import { frameLines } from './frame.js';
import { quantile, ratesBetween, replicaRates } from './rates.js';
import type { Reading, TopReplica } from './read-gateway.js';

const START = 1_000;

function metrics({ requests = 0, errors = 0, streams = [0, 0, 0], input = 0, cached = 0, started = START }): string {
  const [fast, slow, beyond] = streams;
  const bucket = 'twinyard_time_to_first_token_seconds_bucket{endpoint="chat",le=';
  return [
    `process_start_time_seconds ${started}`,
    `twinyard_requests_total{endpoint="chat",model="m",outcome="ok",status="2xx"} ${requests}`,
    `twinyard_requests_total{endpoint="chat",model="m",outcome="timeout",status="5xx"} ${errors}`,
    `twinyard_requests_total{endpoint="chat",model="m",outcome="client_left",status="4xx"} 0`,
    `twinyard_input_tokens_total{endpoint="chat",model="m"} ${input}`,
    `twinyard_cached_tokens_total{endpoint="chat",model="m"} ${cached}`,
    `twinyard_output_tokens_total{endpoint="chat",model="m"} 0`,
    `${bucket}"0.1"} ${fast}`,
    `${bucket}"1"} ${fast! + slow!}`,
    `${bucket}"+Inf"} ${fast! + slow! + beyond!}`,
    'twinyard_replica_signals_age_seconds{replica="a"} 0.4',
    `twinyard_replica_requests_total{replica="a"} ${requests}`,
  ].join('\n');
}

const replica = (id: string, more: Partial<TopReplica> = {}): TopReplica => ({
  ...{ workspace: 'default', endpoint: 'chat', id, url: 'http://h:1', engine: 'vllm', state: 'ready', problem: '' },
  hardware: '',
  tp: 0,
  ...{ leaving: false, breaker: 'closed', suspect: '', models: ['m'], in_flight: 2, active: 2 },
  signals: { running: 3, waiting: 1, kvUsed: 0.256, cacheHitRate: null },
  ...more,
});

function reading(seconds: number, counts: Parameters<typeof metrics>[0], replicas = [replica('a')]): Reading {
  return {
    atMs: (START + seconds) * 1000,
    url: 'http://127.0.0.1:8081',
    endpoints: [
      {
        ...{ workspace: 'default', name: 'chat', source: 'file', in_flight: 2 },
        queued: { standard: 3, batch: 4 },
        shadows: [],
        policy: { routing: { policy: 'lmetric' } },
      },
    ],
    replicas,
    metrics: readSamples(metrics(counts)),
  };
}

describe('rates', () => {
  it('are those between two readings, and since the start without a first one', () => {
    const before = reading(100, { requests: 50, errors: 0, streams: [10, 0, 0], input: 100, cached: 100 });
    const after = reading(110, { requests: 80, errors: 10, streams: [10, 10, 0], input: 300, cached: 150 });
    const rates = ratesBetween(before, after, 'chat');
    expect([rates.requests, rates.errors, rates.cached]).toEqual([4, 1, 0.25]);
    expect(rates.firstTokenP50).toBeCloseTo(0.55, 9);
    expect(ratesBetween(null, after, 'chat').requests).toBeCloseTo(90 / 110, 9);
    expect(ratesBetween(before, after, 'other').requests).toBe(0);
    expect(ratesBetween(before, after, 'other').firstTokenP50).toBeNaN();
  });

  it('of a gateway that restarted are those since its new start', () => {
    const before = reading(100, { requests: 50 });
    expect(ratesBetween(before, reading(110, { requests: 20, started: START + 100 }), null).requests).toBe(2);
  });

  it('of a replica count what was sent to it, from its return if it left', () => {
    const rateOf = (before: Reading | null, after: Reading) => replicaRates(before, after).get('a');
    expect(rateOf(reading(100, { requests: 50 }), reading(110, { requests: 80 }))).toBe(3);
    expect(rateOf(null, reading(10, { requests: 80 }))).toBe(8);
    expect(rateOf(reading(100, { requests: 50 }), reading(110, { requests: 20 }))).toBe(2);
    expect(rateOf(reading(1, {}), reading(1, {}))).toBeUndefined();
  });

  it('are unknown over no time', () => {
    expect(ratesBetween(reading(1, {}), reading(1, {}), null).requests).toBeNaN();
  });
});

describe('a quantile', () => {
  const buckets = new Map([
    [1, 10],
    [2, 20],
    [Number.POSITIVE_INFINITY, 40],
  ]);
  it.each([
    [0.125, 0.5],
    [0.25, 1],
    [0.375, 1.5],
    [0.99, 2],
  ])('%f is %f', (share, value) => {
    expect(quantile(buckets, share)).toBe(value);
  });
});

describe('a frame', () => {
  const plain = { colour: false, width: 80 };

  it('has a line with the agreement of the shadow policies of an endpoint', () => {
    const now = reading(10, {});
    const reads = (agreement: number | null) => ({ on_real_placements: { agreement, classes: [] } });
    const shadows = [
      { name: 'lmetric', ...reads(0.734) },
      { name: 'new', ...reads(null) },
    ];
    const endpoints = now.endpoints.map((endpoint) => ({ ...endpoint, shadows }));
    expect(frameLines(null, { ...now, endpoints }, plain)).toContain('shadows of chat agree: lmetric 73 %, new -');
    expect(frameLines(null, now, plain).join()).not.toContain('shadows');
  });

  it('has a line with the latest advice about a policy that is in force, and at most three', () => {
    const now = reading(600, {});
    const at = new Date(START * 1000).toISOString();
    const gain = { change: -0.2, change_low: -0.3, change_high: -0.1 };
    const best = { job: 'j', at, verdict: '', metric: 'ttft_p90_ms', present: 'lmetric', policy: 'unified', ...gain };
    const keep = { ...best, policy: null, change: null, change_low: null, change_high: null };
    const linesOf = (...advices: (typeof best | typeof keep)[]) =>
      frameLines(
        null,
        { ...now, endpoints: advices.map((advice) => ({ ...now.endpoints[0]!, advice })) },
        { ...plain, width: 120 },
      );
    const line = 'advice for chat: unified instead of lmetric, ttft_p90_ms -20.0 % (-30.0 % to -10.0 %), 10m ago';
    expect(linesOf(best)).toContain(line);
    expect(linesOf(keep)).toContain('advice for chat: keep lmetric, 10m ago');
    expect(linesOf({ ...best, present: 'sticky' }).join()).not.toContain('advice');
    expect(linesOf(best, best, best, best, best)).toContain("advice for 2 more endpoints: see 'twinyard describe'");
  });

  it('has totals, endpoints and replicas, those without requests first', () => {
    const before = reading(100, {});
    const now = reading(110, { requests: 1234, errors: 6, streams: [0, 5, 5], input: 1000, cached: 500 }, [
      replica('a'),
      replica('b', { state: 'unhealthy', signals: null, in_flight: 0 }),
    ]);
    expect(frameLines(before, now, plain)).toEqual([
      'http://127.0.0.1:8081, rates of the last 10 s',
      '',
      '1 endpoint, 1 of 2 replicas ready, 2 in flight, 7 queued',
      '124 requests/s, 0.6 errors/s, 0 refused before they reached an endpoint',
      '100 prompt tokens/s (50 % cached), 0.0 output tokens/s',
      '',
      'endpoint  req/s  err/s  TTFT p50    p99  out tok/s  in flight  queued',
      'chat        124    0.6     1.0 s  1.0 s        0.0          2       7',
      '',
      'replica  state      req/s  in flight  running  waiting    KV  cached     age',
      'b        unhealthy      -          0        -        -     -       -       -',
      'a        ready        123          2        3        1  26 %       -  400 ms',
    ]);
  });

  it('has the policy where there is room', () => {
    const lines = frameLines(null, reading(10, {}), { colour: false, width: 120 });
    expect(lines.find((line) => line.startsWith('chat '))).toMatch(/ lmetric$/);
    expect(lines[0]).toBe('http://127.0.0.1:8081, rates since it started, 10.00 s');
  });

  it('fits the width and the height, with long names and many replicas', () => {
    const many = Array.from({ length: 50 }, (_, i) => replica(`a-very-long-name-of-a-replica-${i}`.repeat(3)));
    const now = reading(10, { requests: 1e9, streams: [1e6, 1e6, 1e6] }, many);
    for (const width of [80, 100, 200]) {
      const lines = frameLines(null, now, { colour: false, width, rows: 24 });
      expect(lines.length).toBeLessThanOrEqual(24);
      expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(width);
      expect(lines.at(-1)).toMatch(/^\d+ more replicas: --once prints all$/);
    }
    expect(frameLines(null, now, plain).filter((line) => line.startsWith('a-very-long'))).toHaveLength(50);
  });

  it('reports why the gateway could not be read, and what is open', () => {
    const open = reading(10, {}, [
      replica('a', { suspect: 'suspect: no first byte for 3.1 s, 20 ms expected' }),
      replica('b', { breaker: 'open' }),
      replica('c', { leaving: true }),
    ]);
    const lines = frameLines(null, open, { ...plain, colour: true, problem: 'http://h: connection refused' });
    expect(lines[1]).toBe('\x1b[31mhttp://h: connection refused\x1b[39m');
    expect(lines.at(-3)).toContain('\x1b[31msuspect\x1b[39m');
    expect(lines.at(-2)).toContain('\x1b[31mbreaker\x1b[39m');
    expect(lines.at(-1)).toContain('\x1b[31mleaving\x1b[39m');
  });

  it('is complete without endpoints', () => {
    const lines = frameLines(null, { ...reading(10, {}, []), endpoints: [] }, plain);
    expect(lines.slice(-3)).toEqual(["no endpoint yet: 'twinyard apply' creates one", '', 'no replicas']);
  });
});
