import { describe, expect, test } from 'vitest';
import { randomStream } from '../src/kernel/random-stream.js';
import { policyOptions } from '../src/policy/policy-options.js';
import { ROUTING_POLICIES } from '../src/policy/registry.js';
import type { FakeRequest } from '../src/replica/fake-replica.fixture.js';
import type { ClusterConfig } from '../src/simulator/cluster-config.js';
import { fakeCluster, simulateFake } from '../src/simulator/fake-cluster.fixture.js';
import { live, simulated } from './support/two-worlds.js';
import { bareEngine } from './support/virtual-engine.js';

/*
 * A fleet of two GPUs, one 2.5 times as fast as the other, in virtual time: the endpoint of a gateway and the simulator decide the same,
 * so that policies rank the same in both. `npm run bench:twin` has it in real time.
 */

function arrivals(seed: number): FakeRequest[] {
  const random = randomStream(seed, 'heterogeneous');
  let at = 0;
  return Array.from({ length: 200 }, (): FakeRequest => {
    at += 1 + random.below(24);
    const group = `g${random.below(12)}`;
    return { at, input: 24 + random.below(40), output: 4 + random.below(12), group, prefix: 16 };
  });
}

function configOf(policy: string): ClusterConfig {
  const found = ROUTING_POLICIES.find(({ name }) => name === policy)!;
  const blocks = 'block_size' in found.options ? { block_size: 4 } : {};
  const options = policyOptions(found, blocks, 'test') as Record<string, unknown>;
  return fakeCluster({ instances: 2, slowFactors: [1, 2.5], routing: { policy, options } }, { totalKvBlocks: 400 });
}

const LIST = arrivals(1);

describe('two GPUs, one 2.5 times as fast', () => {
  test('predicted-latency decides the same in both worlds', async () => {
    const config = configOf('predicted-latency');
    const here = await live(LIST, config, bareEngine);
    expect(here).toEqual(simulated(LIST, config));
    const onFast = here.filter(([, , replica]) => replica === 'instance_0').length;
    expect(onFast).toBeGreaterThan(0.6 * LIST.length);
    expect(onFast).toBeLessThan(LIST.length);
  });

  test('predicted-latency has the least E2E of all policies', () => {
    const means = new Map<string, number>();
    for (const { name } of ROUTING_POLICIES) {
      means.set(name, simulateFake(LIST, configOf(name)).document.cluster.e2e_mean_ms);
    }
    const ranked = [...means].sort(([, a], [, b]) => a - b).map(([name]) => name);
    expect(ranked[0]).toBe('predicted-latency');
  });
});
