import { describe, expect, test } from 'vitest';
import { fakeRecipe, fakeRun } from '../src/experiment/fake-experiment.fixture.js';
import { makeWorkload, type WorkloadRecipe } from '../src/experiment/recipes/workload-recipe.js';
import { summarise } from '../src/experiment/runs/run-summary.js';
import { RunSimulator } from '../src/experiment/runs/simulate-run.js';
import { replayTrace } from '../src/observe/fit/traces/replay-trace.js';
import { fakeTable } from '../src/replica/fake-replica.fixture.js';
import { fakeProfile } from '../src/replica/latency/fake-profile.fixture.js';
import { profileLatency } from '../src/replica/latency/profile-latency.js';
import type { ClusterConfig } from '../src/simulator/cluster-config.js';
import { fakeCluster } from '../src/simulator/fake-cluster.fixture.js';
import { simulate } from '../src/simulator/simulate.js';

/**
 * A profile may depend on what an engine did before. That is the engine's own: runs that use the same profile, one after the
 * other or side by side, do not notice each other.
 */
const PROFILE = fakeProfile({ slowdown: { share: 0.8, tokenUs: 300, overUs: 20_000 } });
const POLICIES = ['round-robin', 'least-loaded', 'weighted'];

function runOf(policy: string, changes: Partial<ClusterConfig> = {}) {
  const recipe = fakeRecipe(200) as Extract<WorkloadRecipe, { kind: 'spec' }>;
  const busy = { ...recipe, spec: { ...recipe.spec, aggregate_rate: 1500 } };
  const run = fakeRun({ routing: { policy, options: {} }, instances: 3, ...changes }, busy);
  // Few blocks: some requests are preempted.
  const replica = { ...run.config.replica, latencyModel: 'profile', latencyProfile: PROFILE, totalKvBlocks: 16 };
  return { ...run, config: { ...run.config, replica } };
}

describe('runs with a profile of an engine that remembers', () => {
  test('are the same alone, after others, and as the simulator makes them', async () => {
    const compared = new RunSimulator();
    for (const seed of [1, 2]) {
      for (const policy of POLICIES) {
        const run = runOf(policy, { seed });
        const summary = await compared.simulate(run);
        expect(summary).toEqual(await new RunSimulator().simulate(run));
        const { workload } = await makeWorkload(run.workload, seed);
        const simulated = simulate(run.config, workload, profileLatency(PROFILE));
        expect(simulated.document.cluster.preemption_count).toBeGreaterThan(0);
        expect(summary).toEqual(summarise(simulated));
      }
    }
    const again = runOf(POLICIES[0]!, { seed: 1 });
    expect(await compared.simulate(again)).toEqual(await new RunSimulator().simulate(again));
  });

  test('do remember: without the slowdown they are others', async () => {
    const run = runOf('round-robin');
    const { slowdown: _, ...step } = PROFILE.step;
    const replica = { ...run.config.replica, latencyProfile: { ...PROFILE, step } };
    const [slowed, plain] = [
      await new RunSimulator().simulate(run),
      await new RunSimulator().simulate({ ...run, config: { ...run.config, replica } }),
    ];
    expect(slowed.e2eMs.at(-1)).toBeGreaterThan(plain.e2eMs.at(-1)!);
  });
});

describe('an engine that has had nothing to do', () => {
  // Steps of prompts, one after the other: the GPU is busy from the first to the last.
  const burst = Array.from({ length: 12 }, (_, i) => ({ at: 0, input: 40 + 5 * i, output: 1 + (i % 3) }));
  const later = (us: number) => burst.map((request) => ({ ...request, at: us }));
  const config = fakeCluster({ instances: 1 }, { totalKvBlocks: 400 });
  const latenciesOf = (requests: typeof burst) => {
    const { outcomes, table } = simulate(config, { table: fakeTable(requests) }, profileLatency(PROFILE));
    return Array.from(outcomes.e2eUs.subarray(0, table.count));
  };

  test('is as quick as at first after a while, and slower before', () => {
    const first = latenciesOf(burst);
    expect(latenciesOf([...burst, ...later(10_000_000)])).toEqual([...first, ...first]);
    const endUs = Math.max(...first);
    const meanAfter = (us: number) =>
      latenciesOf([...burst, ...later(endUs + us)])
        .slice(burst.length)
        .reduce((sum, one) => sum + one, 0);
    expect(meanAfter(100_000)).toBeLessThan(meanAfter(10_000));
    expect(meanAfter(10_000)).toBeLessThan(meanAfter(1000));
  });

  test('is so in a replayed trace', () => {
    const table = fakeTable([...burst, ...later(10_000_000)]);
    const none = new Float64Array(0);
    const client = { warmUp: 0, maxInFlight: Number.POSITIVE_INFINITY };
    const trace = { name: 't', table, ttftUs: none, e2eUs: none, ...client, engine: config.replica };
    const { e2eUs } = replayTrace(trace, profileLatency(PROFILE));
    expect(e2eUs.subarray(burst.length)).toEqual(e2eUs.subarray(0, burst.length));
  });
});

describe('replicas with one profile', () => {
  test('do not share their load', () => {
    const one = Array.from({ length: 30 }, (_, i) => ({
      at: 900 * i,
      input: 10 + ((7 * i) % 80),
      output: 1 + (i % 9),
    }));
    const latency = profileLatency(PROFILE);
    const latenciesOf = (requests: typeof one, instances: number) => {
      const config = fakeCluster({ instances }, { totalKvBlocks: 400 });
      const { outcomes, table } = simulate(config, { table: fakeTable(requests) }, latency);
      return Array.from(outcomes.e2eUs.subarray(0, table.count));
    };
    const alone = latenciesOf(one, 1);
    // The same requests at both replicas, in turns.
    const both = latenciesOf(
      one.flatMap((request) => [request, request]),
      2,
    );
    expect(both).toEqual(alone.flatMap((us) => [us, us]));
  });
});
