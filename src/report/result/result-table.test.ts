import { describe, expect, it } from 'vitest';
import type {
  ClusterMetrics,
  InstanceMetrics,
  ResultDocument,
  ServingMetrics,
} from '../../simulator/result-document.js';
import { resultTable } from './result-table.js';

const spread = (name: string, ms: number) =>
  Object.fromEntries(['mean', 'p50', 'p90', 'p95', 'p99', 'min', 'max'].map((key, i) => [`${name}_${key}_ms`, ms + i]));

const LATENCIES = ['e2e', 'ttft', 'itl'].flatMap((name) => Object.keys(spread(name, 0)));

function serving(requests: number): ServingMetrics {
  return {
    injected_requests: requests,
    completed_requests: requests,
    still_queued: 0,
    still_running: 0,
    dropped_unservable: 0,
    timed_out_requests: 0,
    length_capped_requests: 0,
    total_input_tokens: requests * 100,
    total_output_tokens: requests * 1000,
    duration_s: 12.5,
    responses_per_sec: 3.25,
    tokens_per_sec: 1234.5,
    ...spread('e2e', 1000),
    ...spread('ttft', 20),
    ...spread('itl', 10),
    scheduling_delay_p99_ms: 15,
    preemption_count: 1,
    cache_hit_rate: 0.1,
    prompt_cache_hit_rate: 0.25,
    kv_allocation_failures: 0,
  } as ServingMetrics;
}

function sample(): ResultDocument {
  const cluster: ClusterMetrics = {
    generated_requests: 45,
    not_arrived: 0,
    in_pipeline: 0,
    rejected_requests: 5,
    routing_rejected: 0,
    gateway_queued: 0,
    gateway_rejected: 0,
    gateway_shed: 0,
    gateway_expired: 0,
    gateway_evicted: 0,
    ...serving(40),
  };
  const instances: InstanceMetrics[] = [
    { instance_id: 'instance_0', ...serving(30) },
    { instance_id: 'instance_1', ...serving(10) },
  ];
  return {
    cluster,
    instances,
    slo: {},
    fairness: { jain: 1, tenants: {} },
    anomalies: { priority_inversions: 0, hol_blocking_events: 0, shed: {}, rejections: {} },
    saturation: {
      state: 'keeps-up',
      verdict: 'the fleet keeps up with 10.0 requests/s',
    } as ResultDocument['saturation'],
    latency: { model: 'trained-physics' },
    config: {
      instances: 2,
      seed: 42,
      replica: { model: 'qwen/qwen3-14b', hardware: 'H100', tp: 1 },
      routing: { policy: 'weighted', options: {} },
      admission: { policy: 'token-bucket', options: {} },
      flowControl: null,
      workload: {},
    } as unknown as ResultDocument['config'],
  };
}

describe('resultTable', () => {
  it('shows the cluster, latencies and replicas, and nothing that did not happen', () => {
    expect(resultTable(sample(), { colour: false })).toBe(
      [
        'qwen/qwen3-14b on H100, tp 1, 2 instances',
        'routing weighted, admission token-bucket, seed 42',
        '',
        'Requests    45 generated, 40 completed, 5 rejected',
        'Load        the fleet keeps up with 10.0 requests/s',
        'Throughput  3.25 requests/s, 1,234.5 output tokens/s over 12.50 s',
        'Tokens      4,000 in, 40,000 out',
        'KV cache    25.0 % of prompt tokens found, 1 preemption',
        'Step times  trained-physics',
        '',
        'Latency, ms         mean       p50       p90       p95       p99       max',
        'first token        20.00     21.00     22.00     23.00     24.00     26.00',
        'between tokens     10.00     11.00     12.00     13.00     14.00     16.00',
        'whole request   1,000.00  1,001.00  1,002.00  1,003.00  1,004.00  1,006.00',
        '',
        'Instance    requests   share                   TTFT p99   E2E p99  tokens/s  cached  preempted',
        'instance_0        30  75.0 %  ███████████████     24.00  1,004.00   1,234.5  25.0 %          1',
        'instance_1        10  25.0 %  █████               24.00  1,004.00   1,234.5  25.0 %          1',
        '',
      ].join('\n'),
    );
  });

  it('adds a section for every optional part of the result', () => {
    const tail = { mean_us: 1500, p99_us: 2500 };
    const quantiles = { mean: 1, p50: 2, p95: 3, p99: 4 };
    const document: ResultDocument = {
      ...sample(),
      slo: {
        batch: { count: 3, ttft: tail, itl: tail, e2e: tail },
        critical: { count: 4, ttft: tail, itl: tail, e2e: tail },
      },
      fairness: { jain: 0.981, tenants: { t1: { requests: 18, tokens: 3600 }, t2: { requests: 12, tokens: 2720 } } },
      goodput: {
        goodput_rps: 2.5,
        slo_attainment: 0.9,
        per_class: {
          batch: {
            count: 12,
            slo_attainment: 0.9,
            goodput_rps: 2.5,
            slo_attainment_by_dim: { ttft: 0.95, e2e: 0.9 },
            ttft_p99_ms: 1,
            itl_mean_ms: 1,
            e2e_p99_ms: 1,
          },
        },
      },
      fitness: { score: 0.5, terms: { throughput: 0.25 } },
      sessions: { count: 7, ttft_cold_ms: quantiles, ttft_warm_ms: quantiles, duration_ms: quantiles },
      decisions: {
        total: 45,
        admitted: 40,
        rejected: 5,
        reasons: { 'insufficient tokens': 5 },
        targets: { instance_0: 30, instance_1: 10 },
        mean_regret: 0.125,
        max_regret: 1,
      },
      anomalies: {
        priority_inversions: 3,
        hol_blocking_events: 0,
        shed: { batch: 5 },
        rejections: { 'insufficient tokens': 5 },
      },
    };
    const text = resultTable(document, { colour: false });
    expect(text).toContain('Class, ms  requests  TTFT mean   p99  ITL mean   p99  E2E mean   p99\nbatch             3');
    expect(text).toContain(
      'Goodput  arrived  within  requests/s  by target\nbatch         12  90.0 %        2.50  TTFT 95.0 %, E2E 90.0 %',
    );
    expect(text).toContain(
      "t1            18   3,600\nt2            12   2,720\nfairness (Jain's index of tokens) 0.9810",
    );
    expect(text).toContain('7 sessions, ms    mean   p50   p95   p99\nfirst turn TTFT   1.00');
    expect(text).toContain('Decisions   45 in all, 40 admitted, 5 rejected\nregret      mean 0.125000, max 1.000000');
    expect(text).toContain('Fitness     0.500000 (throughput 0.250000)');
    expect(text).toContain('priority inversions');
    expect(text).toContain('rejected: insufficient tokens');
    expect(text).toContain('shed: batch');
    expect(text).not.toContain('head-of-line');
  });

  it('shows no latencies where nothing completed', () => {
    const document = sample();
    const none = { ...serving(0), ...Object.fromEntries(LATENCIES.map((name) => [name, 0])) };
    Object.assign(document.cluster, none);
    Object.assign(document.instances[1]!, none);
    const text = resultTable(document, { colour: false });
    expect(text).toMatch(/^whole request +- +- +- +- +- +-$/m);
    expect(text).toMatch(/^instance_0 .* 24\.00 +1,004\.00 /m);
    expect(text).toMatch(/^instance_1 .* - +- +1,234\.5 /m);
  });

  it('colours headings and bars only on request', () => {
    expect(resultTable(sample(), { colour: false })).not.toContain('\x1b');
    expect(resultTable(sample(), { colour: true })).toContain('\x1b[36m█████\x1b[39m');
  });
});
