import { describe, expect, it } from 'vitest';
import { fakeCluster, simulateFake } from './fake-cluster.fixture.js';

// A step takes 10 us and 1 us per token.
const PAIR = [
  { input: 4, output: 3, slo: 'critical', tenant: 'a' },
  { at: 100, input: 6, output: 1, tenant: 'b' },
];

describe('jitter of arrivals', () => {
  const many = Array.from({ length: 40 }, (_, i) => ({ at: 10 * i, input: 4, output: 2 }));
  const arrivals = (seed: number, arrivalJitterUs?: number) =>
    simulateFake(many, fakeCluster({ seed, arrivalJitterUs })).requests();

  it('lets close requests change places, in an order that the seed gives', () => {
    const moved = arrivals(1, 100);
    const times = moved.map(({ arrival_us }) => arrival_us);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    const ids = moved.map(({ request_id }) => request_id);
    expect(ids).not.toEqual(arrivals(1).map(({ request_id }) => request_id));
    // Round-robin: whichever comes first goes first.
    expect(moved.map(({ instance }) => instance)).toEqual(moved.map((_, i) => `instance_${i % 2}`));
    expect(arrivals(1, 100)).toEqual(moved);
    expect(arrivals(2, 100)).not.toEqual(moved);
  });

  it('counts latencies from the later arrival', () => {
    const [one] = simulateFake([{ at: 5, input: 4 }], fakeCluster({ arrivalJitterUs: 1000 })).requests();
    expect(one!.arrival_us).toBeGreaterThan(5);
    expect(one!.ttft_us).toBe(14);
  });
});

describe('replicas of unequal speed', () => {
  it('take as many times as long for a step as their factor says; replicas beyond the list once', () => {
    const equal = [{ input: 4 }, { input: 4 }];
    const ttfts = (slowFactors?: number[]) =>
      simulateFake(equal, fakeCluster({ ...(slowFactors === undefined ? {} : { slowFactors }) }))
        .requests()
        .map(({ ttft_us }) => ttft_us);
    expect(ttfts()).toEqual([14, 14]);
    expect(ttfts([1, 3])).toEqual([14, 42]);
    expect(ttfts([2])).toEqual([28, 14]);
  });
});

describe('simulate', () => {
  it('reports the outcome of every request', () => {
    const { requests } = simulateFake(PAIR, fakeCluster());
    expect(requests()).toEqual([
      {
        request_id: 'request_0',
        instance: 'instance_0',
        status: 'completed',
        arrival_us: 0,
        scheduling_delay_us: 0,
        ttft_us: 14,
        itl_mean_us: 11,
        e2e_us: 36,
        input_tokens: 4,
        output_tokens: 3,
        ...{ slo_class: 'critical', tenant: 'a', session: null, round: null, model: 'tiny', gateway_wait_us: null },
      },
      {
        request_id: 'request_1',
        instance: 'instance_1',
        status: 'completed',
        arrival_us: 100,
        scheduling_delay_us: 0,
        ttft_us: 16,
        itl_mean_us: 0,
        e2e_us: 16,
        input_tokens: 6,
        output_tokens: 1,
        ...{ slo_class: 'default', tenant: 'b', session: null, round: null, model: 'tiny', gateway_wait_us: null },
      },
    ]);
  });

  it('adds up the cluster and each instance', () => {
    const { cluster, instances } = simulateFake(PAIR, fakeCluster()).document;
    expect(cluster).toMatchObject({
      generated_requests: 2,
      injected_requests: 2,
      completed_requests: 2,
      total_input_tokens: 10,
      total_output_tokens: 4,
      duration_s: 116e-6,
      e2e_mean_ms: 0.026,
      e2e_min_ms: 0.016,
      e2e_max_ms: 0.036,
      ttft_p50_ms: 0.015,
      itl_mean_ms: 0.011,
      scheduling_delay_p99_ms: 0,
    });
    expect(instances).toMatchObject([
      { instance_id: 'instance_0', completed_requests: 1, duration_s: 36e-6, e2e_max_ms: 0.036 },
      { instance_id: 'instance_1', completed_requests: 1, duration_s: 116e-6, e2e_max_ms: 0.016 },
    ]);
  });

  it('has the optional parts of the document only on request', () => {
    const bare = simulateFake(PAIR, fakeCluster()).document;
    expect(Object.keys(bare)).toEqual([
      'cluster',
      'instances',
      'slo',
      'fairness',
      'anomalies',
      'saturation',
      'latency',
    ]);
    const full = simulateFake(
      [...PAIR, { at: 200, input: 4, session: 's' }],
      fakeCluster({
        traceLevel: 'decisions',
        summarizeTrace: true,
        fitnessWeights: { throughput: 1 },
        goodputTargets: { critical: { e2eUs: 40 } },
      }),
    ).document;
    expect(Object.keys(full)).toEqual([
      'cluster',
      'instances',
      'slo',
      'fairness',
      'goodput',
      'fitness',
      'sessions',
      'decisions',
      'anomalies',
      'saturation',
      'latency',
    ]);
    expect(full.goodput).toMatchObject({ slo_attainment: 1 });
    expect(full.decisions).toMatchObject({ total: 3, admitted: 3, targets: { instance_0: 2, instance_1: 1 } });
  });

  it('writes a line per decision when decisions are traced', () => {
    const lines: string[] = [];
    simulateFake(PAIR, fakeCluster({ traceLevel: 'decisions', counterfactualK: 1 }), {
      watch: { decision: (line) => lines.push(line) },
    });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { t_us: 0, request_id: 'request_0', chosen: 'instance_0', regret: 0, candidates: [{ instance: 'instance_0' }] },
      { t_us: 100, request_id: 'request_1', chosen: 'instance_1', regret: 0, candidates: [{ instance: 'instance_0' }] },
    ]);
    for (const line of lines) expect(line.endsWith('\n')).toBe(true);
  });

  it('writes no line otherwise', () => {
    const lines: string[] = [];
    simulateFake(PAIR, fakeCluster(), { watch: { decision: (line) => lines.push(line) } });
    expect(lines).toEqual([]);
  });

  it('lets replicas schedule by SLO class, with the priorities of the configuration', () => {
    const list = [{ input: 4 }, { input: 4, slo: 'batch' }, { input: 4, slo: 'gold' }, { input: 4, slo: 'critical' }];
    const delays = (sloPriorities: Record<string, number>) => {
      const config = fakeCluster({ instances: 1, sloPriorities }, { maxNumSeqs: 1, scheduler: 'priority-fcfs' });
      const { of } = simulateFake(list, config);
      return list.map((_, row) => of(row).scheduling_delay_us! / 14);
    };
    // One after the other, 14 us each. An unknown class is standard.
    expect(delays({})).toEqual([1, 3, 2, 0]);
    expect(delays({ gold: 10 })).toEqual([2, 3, 0, 1]);
  });

  it('draws ties from the seed, and only from it', () => {
    const routing = { policy: 'least-loaded', options: { tie_break: 'random' } };
    const list = Array.from({ length: 20 }, (_, i) => ({ at: i * 1000, input: 4 }));
    const targets = (seed: number) =>
      simulateFake(list, fakeCluster({ routing, seed }))
        .requests()
        .map((r) => r.instance);
    expect(targets(1)).toEqual(targets(1));
    expect(targets(1)).not.toEqual(targets(2));
  });

  it.each([
    ['routing', { routing: { policy: 'least-loded', options: {} } }, "did you mean 'least-loaded'?"],
    ['admission', { admission: { policy: 'reject', options: {} } }, 'known: '],
  ])('refuses an unknown %s policy', (_, changes, hint) => {
    expect(() => simulateFake(PAIR, fakeCluster(changes))).toThrow(hint);
  });
});
