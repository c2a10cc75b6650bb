import { afterEach, describe, expect, it } from 'vitest';
import { randomStream } from '../../../kernel/random-stream.js';
import { GATEWAY_DEFAULTS } from '../../config/gateway-config.js';
import { managedReplica, upstream } from '../managed.fixture.js';
import { LiveReplica } from '../replica/live-replica.js';
import { applyShares, hasShares, keepLowestTier } from './request-shares.js';

const made: LiveReplica[] = [];
afterEach(async () => {
  await Promise.all(made.splice(0).map((replica) => replica.close()));
});

const URL = 'http://127.0.0.1:1';

/** Replicas of these weights and tiers. */
function fleetOf(...shares: [weight: number, tier: number][]): LiveReplica[] {
  const fleet = shares.map(
    ([weight, tier], i) => new LiveReplica(upstream(`u${i}`, URL, { weight, tier }), GATEWAY_DEFAULTS),
  );
  made.push(...fleet);
  return fleet;
}

/** How often each remains eligible. */
function counts(fleet: readonly LiveReplica[], removed: readonly (string | null)[], times: number): number[] {
  const random = randomStream(1, 'test');
  const left = fleet.map(() => 0);
  for (let i = 0; i < times; i++) {
    const now = [...removed];
    applyShares(fleet, now, random);
    for (const [slot, reason] of now.entries()) if (reason === null) left[slot]!++;
  }
  return left;
}

describe('request shares', () => {
  it('change nothing where all are alike', () => {
    const engine = new LiveReplica(managedReplica('r', URL), GATEWAY_DEFAULTS);
    made.push(engine);
    expect(hasShares([engine, ...fleetOf([1, 0])])).toBe(false);
    expect(hasShares(fleetOf([1, 0], [2, 0]))).toBe(true);
    expect(hasShares(fleetOf([1, 0], [1, 1]))).toBe(true);
    expect(hasShares([])).toBe(false);
  });

  it('leave the lowest available tier, and give the reason for the others', () => {
    const fleet = fleetOf([1, 2], [1, 0], [1, 1], [1, 1]);
    const removed = [null, 'unhealthy: x', null, null];
    applyShares(fleet, removed, randomStream(1, 'test'));
    expect(removed).toEqual(['tier 2: tier 1 can take it', 'unhealthy: x', null, null]);
    const none = ['a', 'b', 'c', 'd'];
    applyShares(fleet, none, randomStream(1, 'test'));
    expect(none).toEqual(['a', 'b', 'c', 'd']);
  });

  it('draw one replica where weights differ, in proportion to the weights', () => {
    const fleet = fleetOf([3, 0], [1, 0], [96, 1], [0.5, 0]);
    const [three, one, other, half] = counts(fleet, [null, null, null, null], 9000);
    expect(three! + one! + half!).toBe(9000);
    expect(other).toBe(0);
    expect(three! / 9000).toBeCloseTo(3 / 4.5, 1);
    expect(one! / 9000).toBeCloseTo(1 / 4.5, 1);
    expect(half! / 9000).toBeCloseTo(0.5 / 4.5, 1);
    expect(counts(fleet, ['tried before', null, null, null], 100)).toEqual([
      0,
      expect.any(Number),
      0,
      expect.any(Number),
    ]);
  });

  it('leave all where weights are equal', () => {
    expect(counts(fleetOf([7, 0], [7, 0]), [null, null], 5)).toEqual([5, 5]);
  });

  it('leave a replica even if the sum loses precision', () => {
    const fleet = fleetOf([0.1, 0], [0.2, 0]);
    const removed = [null, null];
    applyShares(fleet, removed, { ...randomStream(1, 'x'), next: () => 1 });
    expect(removed).toEqual(['another was drawn by weight', null]);
  });

  it('exclude higher tiers from saturation', () => {
    const removed = ['unhealthy: x', null, null, null];
    keepLowestTier(fleetOf([1, 0], [1, 2], [1, 1], [2, 1]), removed);
    expect(removed).toEqual(['unhealthy: x', 'tier 2: tier 1 can take it', null, null]);
  });
});
