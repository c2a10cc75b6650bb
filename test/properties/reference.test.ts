import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { referenceSimulate } from '../../bench/reference/reference-simulate.js';
import type { ClusterConfig } from '../../src/simulator/cluster-config.js';
import { simulate } from '../../src/simulator/simulate.js';
import { latencyModels, randomConfig } from '../support/random-cluster.js';
import { buildWorkload, type PlainWorkload, randomWorkload } from '../support/random-workload.js';

/** Both simulators on the same inputs, reduced to what can be compared. */
function both(config: ClusterConfig, plain: PlainWorkload) {
  const latency = latencyModels[config.replica.latencyModel]!;
  const reference = referenceSimulate(config, buildWorkload(plain), latency);
  const fast = simulate(config, buildWorkload(plain), latency);
  const { cluster, instances, decisions, anomalies } = fast.document;
  return {
    expected: {
      requests: Object.fromEntries(
        reference.requests.map((one) => [
          one.id,
          [one.status, one.instance, one.arrivalUs, one.schedulingDelayUs, one.ttftUs, one.e2eUs, one.inputTokens],
        ]),
      ),
      gaps: [reference.tokenGapsUs.length, Math.max(0, ...reference.tokenGapsUs)],
      preemptions: reference.preemptions,
      failures: reference.kvAllocationFailures,
      input: reference.totalInputTokens,
      output: reference.totalOutputTokens,
      seconds: reference.durationUs / 1e6,
      hits: reference.instances.map(({ hits, misses }) => (hits + misses === 0 ? 0 : hits / (hits + misses))),
      admitted: reference.decisions.admitted,
      rejected: reference.decisions.rejected,
      targets: reference.decisions.targets,
      shed: reference.decisions.shedByClass,
    },
    actual: {
      requests: Object.fromEntries(
        fast
          .requests()
          .map((one) => [
            one.request_id,
            [
              one.status,
              one.instance === null ? null : Number(one.instance.slice('instance_'.length)),
              one.arrival_us,
              one.scheduling_delay_us,
              one.ttft_us,
              one.e2e_us,
              one.input_tokens,
            ],
          ]),
      ),
      gaps: [gapCount(fast), Math.round(cluster.itl_max_ms * 1000)],
      preemptions: cluster.preemption_count,
      failures: cluster.kv_allocation_failures,
      input: cluster.total_input_tokens,
      output: cluster.total_output_tokens,
      seconds: cluster.duration_s,
      hits: instances.map((one) => one.cache_hit_rate),
      admitted: decisions!.admitted,
      rejected: decisions!.rejected,
      targets: instances.map((_, i) => decisions!.targets[`instance_${i}`] ?? 0),
      shed: anomalies.shed,
    },
    regrets: [
      [decisions!.mean_regret, reference.decisions.meanRegret],
      [decisions!.max_regret, reference.decisions.maxRegret],
    ] as const,
    itlMean: [cluster.itl_mean_ms, mean(reference.tokenGapsUs) / 1000] as const,
  };
}

const mean = (values: number[]) => (values.length === 0 ? 0 : values.reduce((a, b) => a + b, 0) / values.length);

function gapCount(run: ReturnType<typeof simulate>): number {
  const done = run.requests().filter((one) => one.e2e_us !== null && one.output_tokens > 0);
  return done.reduce((sum, one) => sum + one.output_tokens - 1, 0);
}

describe('the simulator and the plain reference', () => {
  test('agree to the microsecond on any workload and configuration', () => {
    fc.assert(
      fc.property(randomConfig, randomWorkload, (config, plain) => {
        const { expected, actual, regrets, itlMean } = both(config, plain);
        expect(actual).toEqual(expected);
        for (const [ours, theirs] of [...regrets, itlMean]) expect(ours).toBeCloseTo(theirs, 9);
      }),
      { numRuns: 1500 },
    );
  });
});
