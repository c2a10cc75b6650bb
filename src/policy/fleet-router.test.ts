import { describe, expect, it } from 'vitest';
import { randomStream } from '../kernel/random-stream.js';
import { FleetRouter } from './fleet-router.js';
import { policyOptions } from './policy-options.js';
import { routingPolicy } from './registry.js';

function routerFor(name: string, allBooks = false) {
  const policy = routingPolicy(name);
  const router = new FleetRouter({
    policy,
    options: policyOptions(policy, {}, 'test'),
    random: randomStream(1, 'router'),
    mostReplicas: 8,
    blockSize: 16,
    cacheBlocks: 100,
    allBooks,
  });
  /** Routes a prompt of these blocks; the name of its replica. */
  const route = (request: number, blocks: readonly number[] = []) => {
    Object.assign(router.features, {
      blocks: Int32Array.from(blocks),
      blockCount: blocks.length,
      inputTokens: blocks.length * 16,
    });
    return router.view.ids[router.route(request)];
  };
  return { router, route };
}

describe('FleetRouter', () => {
  it('has no replica before it is told of any', () => {
    const { router, route } = routerFor('round-robin');
    expect([route(0), router.slot('a'), router.finished(0)]).toEqual([undefined, -1, false]);
    router.setReplicas(['a']);
    expect([route(1), router.slot('a')]).toEqual(['a', 0]);
    router.setReplicas([]);
    expect(route(2)).toBeUndefined();
  });

  it('places what it picks, and hears of the first token and of the end', () => {
    const { router, route } = routerFor('lmetric');
    router.setReplicas(['a', 'b']);
    expect([route(0, [1, 2]), route(1, [3])]).toEqual(['a', 'b']);
    expect(Array.from(router.view.pendingPrefillTokens.subarray(0, 2))).toEqual([32, 16]);
    expect([router.firstToken(0), router.firstToken(0), router.finished(0), router.finished(0)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(Array.from(router.view.inFlight.subarray(0, 2))).toEqual([0, 1]);
  });

  it('keeps what it knows of the replicas that stay, wherever they stand', () => {
    const { router, route } = routerFor('least-loaded', true);
    router.setReplicas(['a', 'b', 'c']);
    router.view.queued.set([7, 0, 5]);
    router.view.kvUsed.set([0.5, 0.25, 0.75]);
    expect(route(0, [1, 2])).toBe('b');
    router.setReplicas(['c', 'd', 'b']);
    const { queued, kvUsed, inFlight, indexedBlocks, size } = router.view;
    expect(size).toBe(3);
    expect([queued, kvUsed, inFlight, indexedBlocks].map((column) => Array.from(column.subarray(0, 4)))).toEqual([
      [5, 0, 0, 0],
      [0.75, 0, 0.25, 0],
      [0, 0, 1, 0],
      [0, 0, 2, 0],
    ]);
    expect([router.slot('a'), router.slot('b'), router.slot('d')]).toEqual([-1, 2, 1]);
    router.setReplicas(['c', 'd']);
    router.setReplicas(['b']);
    expect([inFlight[0], router.finished(0)]).toEqual([0, false]);
  });

  it('lets policies that learn follow the fleet', () => {
    const { router, route } = routerFor('sticky');
    router.setReplicas(['a', 'b']);
    router.features.session = 's';
    expect(route(0)).toBe('a');
    router.setReplicas(['b', 'a']);
    expect([route(1), route(2)]).toEqual(['a', 'a']);
  });

  it('can change its policy: what is in flight stays booked, and what was sent where stays known', () => {
    const { router, route } = routerFor('round-robin', true);
    router.setReplicas(['a', 'b']);
    expect([route(0, [1]), route(1, [2, 3])]).toEqual(['a', 'b']);
    const lmetric = routingPolicy('lmetric');
    router.setPolicy(lmetric, policyOptions(lmetric, {}, 'test'), randomStream(1, 'router'));
    // (16 + 32) x 1 against (32 + 0) x 1: the second knows the prompt.
    expect(route(2, [2, 3])).toBe('b');
    expect([router.finished(0), router.finished(2)]).toEqual([true, true]);
  });

  it('can cut prompts in another way: then it knows none, and counts go on', () => {
    const { router, route } = routerFor('lpwl', true);
    router.setReplicas(['a', 'b']);
    route(0, [1, 2]);
    router.forgetBlocks(32, 100);
    expect([router.features.blockSize, router.view.indexedBlocks[0], router.view.inFlight[0]]).toEqual([32, 0, 1]);
    expect(route(1, [1, 2])).toBe('b');
    const without = routerFor('load-only');
    without.router.forgetBlocks(32, 100);
    expect(without.router.features.blockSize).toBe(32);
  });
});
