import { describe, expect, it } from 'vitest';
import { ROUTING_POLICIES } from '../policy/registry.js';
import { type FakeRequest, fakeKeys, fakeReplica, fakeTable } from '../replica/fake-replica.fixture.js';
import type { ClusterConfig } from './cluster-config.js';
import { fakeCluster, simulateFake } from './fake-cluster.fixture.js';
import { createHost, Router } from './router.js';

function routerFor(list: readonly FakeRequest[], changes: Partial<ClusterConfig> = {}) {
  const config = fakeCluster(changes);
  const table = fakeTable(list);
  const fleet = Array.from({ length: config.instances }, () => fakeReplica([{ input: 8, group: 'g' }]));
  const replicas = fleet.map(({ replica }) => replica);
  const host = createHost(config);
  const router = new Router(config, host, table, (blockSize) => fakeKeys(table, blockSize), replicas);
  /** Looks, picks and places, as the cluster does. */
  const route = (row: number, nowUs = 0) => {
    router.look(row, nowUs);
    const chosen = router.pick(row);
    router.placed(row, chosen);
    return chosen;
  };
  return { router, policies: host.policies, fleet, route };
}

const weighted = (scorers: string) => ({ routing: { policy: 'weighted', options: { scorers } } });

describe('what a decision knows of a request', () => {
  it('is in the features: numbers and names, not the output length', () => {
    const { router } = routerFor([
      { input: 9, output: 77, slo: 'batch', tenant: 't', session: 's' },
      { input: 5, output: 77 },
    ]);
    router.look(0, 123);
    expect(router.host.features).toMatchObject({
      nowUs: 123,
      inputTokens: 9,
      sloClass: 'batch',
      priority: -1,
      tenant: 1,
      session: 's',
    });
    expect(JSON.stringify(router.host.features)).not.toContain('77');
    router.look(1, 124);
    expect(router.host.features).toMatchObject({ sloClass: 'standard', priority: 3, tenant: -1, session: '' });
  });

  it('follows the priorities of the configuration', () => {
    const { router } = routerFor([{ input: 1, slo: 'gold' }], { sloPriorities: { gold: 9 } });
    router.look(0, 0);
    expect(router.host.features.priority).toBe(9);
  });

  it('separates shared blocks from those of the request alone', () => {
    const { router } = routerFor([{ input: 18, group: 'g', prefix: 8 }], weighted('prefix-affinity:1'));
    router.look(0, 0);
    router.pick(0);
    expect(router.host.features).toMatchObject({ blockCount: 4, soloBlocks: 2 });
    expect(Array.from(router.host.features.blocks.subarray(0, 2))).toEqual([1000, 1001]);
  });
});

describe('which replicas may be chosen', () => {
  it('is all of them, or none when the request names another model', () => {
    const { router } = routerFor([{ input: 1, model: 'tiny' }, { input: 1, model: 'TINY' }, { input: 1 }]);
    const eligible = (row: number) => {
      router.look(row, 0);
      return [router.pick(row) >= 0, Array.from(router.host.view.eligible)];
    };
    expect(eligible(0)).toEqual([true, [1, 1]]);
    expect(eligible(1)).toEqual([false, [0, 0]]);
    expect(eligible(2)).toEqual([true, [1, 1]]);
  });

  it('does not matter for a look at the fleet as a whole', () => {
    const { router } = routerFor([{ input: 1, model: 'other' }]);
    router.look(0, 0);
    router.lookAtFleet(0);
    expect(Array.from(router.host.view.eligible)).toEqual([1, 1]);
  });
});

describe('signals', () => {
  it('are refreshed by looks, not by time', () => {
    const { router, fleet } = routerFor([{ input: 1 }], { snapshotRefreshUs: 50 });
    fleet[0]!.runUntil(1);
    router.look(0, 10);
    expect(router.host.view.freeBlocks[0]).toBe(0);
    router.look(0, 60);
    expect(router.host.view.freeBlocks[0]).toBe(100);
  });

  it('are not refreshed for a request that no replica can serve', () => {
    const { router } = routerFor([{ input: 1, model: 'other' }, { input: 1 }], { snapshotRefreshUs: 50 });
    router.look(0, 60);
    expect(router.host.view.freeBlocks[0]).toBe(0);
    router.look(1, 61);
    expect(router.host.view.freeBlocks[0]).toBe(100);
  });

  it('in flight are requests that were placed and have not left, always up to date', () => {
    const { router, route } = routerFor([{ input: 4 }, { input: 4 }], { snapshotRefreshUs: 50 });
    route(0);
    route(1);
    expect(Array.from(router.host.view.inFlight)).toEqual([1, 1]);
    router.left(0, 0, true);
    router.left(0, 0, true);
    expect(Array.from(router.host.view.inFlight)).toEqual([0, 1]);
  });

  it('that no policy reads are not collected', () => {
    expect(routerFor([]).policies.reads.size).toBe(0);
    expect([...routerFor([], weighted('queue-depth:1,kv-utilization:1')).policies.reads].sort()).toEqual(
      ['inFlight', 'kvUsed', 'queued', 'running'].sort(),
    );
    const gated = routerFor([], { admission: { policy: 'tier-shed', options: {} } });
    expect([...gated.policies.reads].sort()).toEqual(['inFlight', 'queued', 'running']);
  });
});

describe('prefixes', () => {
  it('sent to a replica bring the next request with the same prefix there', () => {
    const shared = { input: 8, group: 'g' };
    const { route } = routerFor([{ input: 8 }, shared, shared], weighted('prefix-affinity:1'));
    expect([route(0), route(1), route(2)]).toEqual([0, 0, 0]);
    const balanced = routerFor([{ input: 8 }, shared, shared], weighted('load-balance:1,prefix-affinity:9'));
    expect([balanced.route(0), balanced.route(1), balanced.route(2)]).toEqual([0, 1, 1]);
  });

  it('in the cache of a replica do so too, as old as the cache signal', () => {
    const list = [{ input: 8, group: 'g' }];
    const live = routerFor(list, weighted('precise-prefix-cache:1'));
    live.fleet[1]!.run();
    expect(live.route(0)).toBe(1);
    const delayed = routerFor(list, { ...weighted('precise-prefix-cache:1'), cacheSignalDelayUs: 50 });
    delayed.fleet[1]!.run();
    expect([delayed.route(0, 49), delayed.route(0, 50)]).toEqual([0, 1]);
  });
});

describe('tenants', () => {
  it('get their seats back when a request leaves', () => {
    const mine = { input: 4, tenant: 't', slo: 'batch' };
    const { router, route } = routerFor([mine, mine], { tenantBudgets: { t: 0 } });
    route(0);
    router.look(1, 0);
    expect(router.refuse()).toBe('tenant is over its budget');
    router.left(0, 0, true);
    expect(router.refuse()).toBeNull();
  });
});

describe('every routing policy', () => {
  const list = Array.from({ length: 60 }, (_, i) => ({
    at: i * 7,
    input: 8 + (i % 5) * 4,
    ...(i % 3 === 0 ? { group: `g${i % 4}`, prefix: 8 } : {}),
    ...(i % 2 === 0 ? { session: `s${i % 6}` } : {}),
  }));

  it.each(ROUTING_POLICIES.map(({ name }) => name))('%s serves a cluster', (policy) => {
    const config = fakeCluster({ instances: 4, routing: { policy, options: {} }, traceLevel: 'decisions' });
    const { document } = simulateFake(list, config);
    expect(document.cluster).toMatchObject({ completed_requests: 60, routing_rejected: 0 });
    expect(simulateFake(list, config).document).toEqual(document);
  });
});

describe('what a prompt begins with', () => {
  const keyOf = (request: FakeRequest) => {
    const { router } = routerFor([{ input: 1 }, request], { routing: { policy: 'chwbl', options: {} } });
    router.look(1, 0);
    router.pick(1);
    return router.host.features.contentKey;
  };

  it('is its first block if others may have it, else its session, else itself', () => {
    expect(keyOf({ input: 8, group: 'g', session: 's' })).toBe('block:1000');
    expect(keyOf({ input: 8, session: 's', grows: true })).toBe('block:101000');
    expect(keyOf({ input: 8, session: 's' })).toBe('session:s');
    expect(keyOf({ input: 3, group: 'g', session: 's' })).toBe('session:s');
    expect(keyOf({ input: 8 })).toBe('request_1');
  });
});

describe('blocks of the index', () => {
  it('have the size that the policy sets, and those of the caches their own', () => {
    const list = [{ input: 40, group: 'g' }];
    const options = { scorers: 'prefix-affinity:1,precise-prefix-cache:1', block_size: 16 };
    const { router, fleet } = routerFor(list, { routing: { policy: 'weighted', options } });
    fleet[1]!.run();
    router.look(0, 0);
    router.pick(0);
    expect(router.host.features).toMatchObject({ blockSize: 16, blockCount: 2 });
    router.placed(0, 0);
    router.pick(0);
    expect(Array.from(router.host.features.routedBlocks)).toEqual([2, 0]);
    expect(Array.from(router.host.features.cachedBlocks)).toEqual([0, 2]);
  });

  it('are 512 tokens for lmetric and unified, and those of the caches for others', () => {
    const sizeFor = (policy: string) => routerFor([], { routing: { policy, options: {} } }).policies.blockSize;
    expect(['lmetric', 'unified', 'weighted', 'lpwl', 'round-robin'].map(sizeFor)).toEqual([512, 512, 4, 4, 4]);
  });
});
