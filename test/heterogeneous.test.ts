import { describe, expect, test } from 'vitest';
import { randomStream } from '../src/kernel/random-stream.js';
import { policyOptions } from '../src/policy/policy-options.js';
import { ROUTING_POLICIES } from '../src/policy/registry.js';
import type { FakeRequest } from '../src/replica/fake-replica.fixture.js';
import { profileLatency } from '../src/replica/latency/profile-latency.js';
import type { ClusterConfig } from '../src/simulator/cluster-config.js';
import { fakeCluster } from '../src/simulator/fake-cluster.fixture.js';
import { fleetReplicas } from '../src/simulator/fleet/fleet-replicas.js';
import { simulate } from '../src/simulator/simulate.js';
import { askedConfig, readsText } from '../src/twin/whatif/asked-config.js';
import { PROFILE, REPLICA, trafficTable } from '../src/twin/whatif/recorded-run.fixture.js';
import type { WhatIfQuestion } from '../src/twin/whatif/whatif-question.js';
import { clearRanks, correlation, lowest } from './support/ranking.js';
import { recordedWorld } from './support/recorded-world.js';
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
/** What a live gateway sees of its replicas, for the simulated one. */
const GATEWAY = { gateway: { signalsUs: 1_000_000, blockSize: 16 } } as WhatIfQuestion;
const SERVED = { routingUs: 0, trace: { observed: { served: { replicas: ['fast', 'slow'] } } } };

describe('two GPUs, one 2.5 times as fast', () => {
  test('predicted-latency decides the same in both worlds', async () => {
    const config = configOf('predicted-latency');
    const here = await live(LIST, config, bareEngine);
    expect(here).toEqual(simulated(LIST, config));
    const onFast = here.filter(([, , replica]) => replica === 'instance_0').length;
    expect(onFast).toBeGreaterThan(0.6 * LIST.length);
    expect(onFast).toBeLessThan(LIST.length);
  });

  test('every policy that reads no text ranks alike in both worlds, and predicted-latency is the best in both', async () => {
    const here = new Map<string, number[]>();
    const there = new Map<string, number[]>();
    for (const { name: policy } of ROUTING_POLICIES) {
      const routing = { policy, options: {} };
      if (readsText(routing)) continue;
      const table = trafficTable({ seed: 5, requests: 200, rate: 60, prefixes: 12 });
      const asked = askedConfig(GATEWAY, SERVED, REPLICA, { routing });
      const config = { ...asked, slowFactors: [1, 2.5], replicaPrefix: 'engine-' };
      const latency = profileLatency(PROFILE);
      const { outcomes } = simulate(config, { table }, latency);
      there.set(policy, [...outcomes.e2eUs.subarray(0, table.count)]);
      const fleet = fleetReplicas(config, latency);
      const { served } = await recordedWorld(table, { policy, seed: config.seed, fleet });
      here.set(
        policy,
        served.map(({ e2eUs }) => e2eUs),
      );
    }
    expect(here.size).toBeGreaterThan(14);
    expect([lowest(there), lowest(here)]).toEqual(['predicted-latency', 'predicted-latency']);
    expect(correlation(clearRanks(there), clearRanks(here))).toBeGreaterThan(0.9);
  });
});
