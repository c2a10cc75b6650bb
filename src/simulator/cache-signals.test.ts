import { describe, expect, it } from 'vitest';
import { createRequestFeatures } from '../policy/request-features.js';
import { toyReplica } from '../replica/toy-replica.contract.js';
import { CacheSignals } from './cache-signals.js';

/** Two replicas, of which the second has computed both blocks of group `g`: toy keys 1000 and 1001. */
function fleet() {
  const cold = toyReplica([{ input: 4 }]);
  const warm = toyReplica([{ input: 8, group: 'g' }]);
  return { replicas: [cold.replica, warm.replica], warmUp: warm.run };
}

function asked(soloBlocks = 0) {
  const request = createRequestFeatures(2);
  request.blocks = Int32Array.of(1000, 1001, 99);
  request.blockCount = 3;
  request.soloBlocks = soloBlocks;
  return request;
}

describe('live caches', () => {
  it('are asked how many leading blocks of the request they hold', () => {
    const { replicas, warmUp } = fleet();
    const caches = new CacheSignals(replicas, 0);
    const request = asked();
    caches.lookUp(request);
    expect(Array.from(request.cachedBlocks)).toEqual([0, 0]);
    warmUp();
    caches.lookUp(request);
    expect(Array.from(request.cachedBlocks)).toEqual([0, 2]);
  });

  it('are not asked for blocks that only this request can have', () => {
    const { replicas, warmUp } = fleet();
    warmUp();
    const request = asked(2);
    new CacheSignals(replicas, 0).lookUp(request);
    expect(Array.from(request.cachedBlocks)).toEqual([0, 1]);
  });
});

describe('caches that are seen every 50 us', () => {
  it('look empty until the interval has passed, then as they were at the last look that was due', () => {
    const { replicas, warmUp } = fleet();
    const caches = new CacheSignals(replicas, 50);
    const request = asked();
    const seen = (nowUs: number) => {
      caches.look(nowUs);
      caches.lookUp(request);
      return request.cachedBlocks[1];
    };
    expect([seen(0), seen(49), seen(60)]).toEqual([0, 0, 0]);
    warmUp();
    // The last look that counted was at 60.
    expect([seen(109), seen(110)]).toEqual([0, 2]);
  });

  it('show what was there before they were first seen', () => {
    const { replicas, warmUp } = fleet();
    const caches = new CacheSignals(replicas, 50);
    warmUp();
    caches.look(50);
    const request = asked();
    caches.lookUp(request);
    expect(request.cachedBlocks[1]).toBe(2);
  });
});
