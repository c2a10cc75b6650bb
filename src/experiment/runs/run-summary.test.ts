import { describe, expect, it } from 'vitest';
import { fakeCluster, simulateFake } from '../../simulator/fake-cluster.fixture.js';
import { QUANTILES } from './course/latency-quantiles.js';
import { MAX_TARGETS, summarise } from './run-summary.js';

describe('summarise', () => {
  const requests = Array.from({ length: 9 }, (_, i) => ({ at: i * 100, input: 8, output: 2 }));

  it('keeps measures, counts and latencies at fixed percentiles', () => {
    const result = simulateFake(requests, fakeCluster());
    const summary = summarise(result);
    const { cluster } = result.document;
    expect(summary).toMatchObject({ requests: 9, inputTokens: 72, targets: { least: 4, most: 5, byInstance: [5, 4] } });
    expect(summary.metrics).toMatchObject({
      ttft_p99_ms: cluster.ttft_p99_ms,
      completed_share: 1,
      rejected_share: 0,
      goodput_rps: null,
      fitness: null,
      busiest_share: 5 / 9,
    });
    expect(summary.ttftMs).toHaveLength(QUANTILES.length);
    expect(summary.ttftMs.at(-1)).toBe(cluster.ttft_max_ms);
    expect(summary.e2eMs[QUANTILES.indexOf(50)]).toBeCloseTo(cluster.e2e_p50_ms, 3);
  });

  it('has goodput and fitness where they are configured', () => {
    const config = fakeCluster({ goodputTargets: { default: { e2eUs: 1e9 } }, fitnessWeights: { throughput: 1 } });
    const { metrics } = summarise(simulateFake(requests, config));
    expect(metrics.slo_attainment).toBe(1);
    expect(metrics.goodput_rps).toBeGreaterThan(0);
    expect(metrics.fitness).toBeGreaterThan(0);
  });

  it('has the tail of every class where there are several', () => {
    const classes = requests.map((request, i) => ({ ...request, slo: i % 2 === 0 ? 'critical' : 'batch' }));
    const { document, ...result } = simulateFake(classes, fakeCluster());
    expect(summarise({ document, ...result }).metrics).toMatchObject({
      'ttft_p99_ms/batch': document.slo.batch!.ttft.p99_us / 1000,
      'ttft_p99_ms/critical': document.slo.critical!.ttft.p99_us / 1000,
    });
    expect(summarise(simulateFake(requests, fakeCluster())).metrics).not.toHaveProperty('ttft_p99_ms/default');
  });

  it('measures no latency where nothing was served', () => {
    const { metrics, ttftMs } = summarise(
      simulateFake(requests, fakeCluster({ admission: { policy: 'reject-all', options: {} } })),
    );
    expect(metrics).toMatchObject({ ttft_p99_ms: null, rejected_share: 1, completed_share: 0, busiest_share: null });
    expect(ttftMs).toEqual([]);
  });

  it('stays small for a large fleet', () => {
    const { targets, load } = summarise(simulateFake(requests, fakeCluster({ instances: MAX_TARGETS + 1 })));
    expect(targets).toEqual({ least: 0, most: 1, byInstance: null });
    expect(load.rows).toHaveLength(3);
  });

  it('has percentiles in ascending order', () => {
    expect([...QUANTILES].sort((a, b) => a - b)).toEqual(QUANTILES);
    expect([QUANTILES[0], QUANTILES.at(-1)]).toEqual([0, 100]);
  });
});
