import { describe, expect, it } from 'vitest';
import { fakeReplica } from '../replica/fake-replica.fixture.js';
import { CacheSignals } from './cache-signals.js';

/** Two replicas, of which the second has computed both blocks of group `g`: fake keys 1000 and 1001. */
function fleet() {
  const cold = fakeReplica([{ input: 4 }]);
  const warm = fakeReplica([{ input: 8, group: 'g' }]);
  return { replicas: [cold.replica, warm.replica], warmUp: warm.run };
}

const BLOCKS = Int32Array.of(1000, 1001, 99);

/** How many of the first `count` blocks each replica is seen to hold. */
function seenBy(caches: CacheSignals, count = BLOCKS.length): number[] {
  const cached = new Int32Array(2);
  caches.lookUp(BLOCKS, count, cached);
  return Array.from(cached);
}

describe('live caches', () => {
  it('report how many leading blocks of the request they hold', () => {
    const { replicas, warmUp } = fleet();
    const caches = new CacheSignals(replicas, 0);
    expect(seenBy(caches)).toEqual([0, 0]);
    warmUp();
    expect(seenBy(caches)).toEqual([0, 2]);
  });

  it('report no more blocks than requested', () => {
    const { replicas, warmUp } = fleet();
    warmUp();
    expect(seenBy(new CacheSignals(replicas, 0), 1)).toEqual([0, 1]);
  });
});

describe('caches that are refreshed every 50 us', () => {
  it('look empty until the interval has passed, then as of the last refresh', () => {
    const { replicas, warmUp } = fleet();
    const caches = new CacheSignals(replicas, 50);
    const seen = (nowUs: number) => {
      caches.look(nowUs);
      return seenBy(caches)[1];
    };
    expect([seen(0), seen(49), seen(60)]).toEqual([0, 0, 0]);
    warmUp();
    // The last look that counted was at 60.
    expect([seen(109), seen(110)]).toEqual([0, 2]);
  });

  it('include what was there before the first refresh', () => {
    const { replicas, warmUp } = fleet();
    const caches = new CacheSignals(replicas, 50);
    warmUp();
    caches.look(50);
    expect(seenBy(caches)[1]).toBe(2);
  });
});
