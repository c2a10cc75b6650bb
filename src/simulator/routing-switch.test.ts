import { expect, it } from 'vitest';
import { fakeLatency } from '../replica/fake-replica.fixture.js';
import { RequestTable } from '../workload/request-table.js';
import type { ClusterConfig } from './cluster-config.js';
import { fakeCluster } from './fake-cluster.fixture.js';
import { simulate } from './simulate.js';

/** Forty requests, ten milliseconds apart, that all begin with the same prefix. */
function requests(): RequestTable {
  const table = new RequestTable(40);
  const group = table.prefixGroups.index('shared');
  table.prefixTokens[group] = 64;
  for (let i = 0; i < 40; i++) {
    const row = table.append();
    table.arrivalUs[row] = i * 10_000;
    table.inputTokens[row] = 80;
    table.outputTokens[row] = 4;
    table.prefixGroup[row] = group;
  }
  return table;
}

function placements(change: Partial<ClusterConfig>): number[] {
  const config = fakeCluster({ instances: 4, routing: { policy: 'round-robin', options: {} }, ...change });
  const { outcomes } = simulate(config, { table: requests() }, fakeLatency());
  return Array.from({ length: 40 }, (_, row) => outcomes.instance[row]!);
}

it('another policy decides from a time on, with books that go on', () => {
  const before = placements({});
  const routing = { policy: 'sglang-cache-aware', options: { block_size: 16 } };
  const switched = placements({ routingSwitch: { atUs: 200_000, routing } });
  expect(switched.slice(0, 20)).toEqual(before.slice(0, 20));
  // All replicas were sent the prefix before: the first of them is the best match from the first request on.
  expect(switched.slice(20)).toEqual(Array(20).fill(0));
});
