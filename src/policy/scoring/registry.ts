import type { Scorer } from '../contract.js';
import { findNamed } from '../find-named.js';
import { activeRequests } from './active-requests.js';
import { kvUtilization } from './kv-utilization.js';
import { loadAware } from './load-aware.js';
import { loadBalance } from './load-balance.js';
import { noHitLru } from './no-hit-lru.js';
import { precisePrefixCache } from './precise-prefix-cache.js';
import { prefixAffinity } from './prefix-affinity.js';
import { queueDepth } from './queue-depth.js';
import { runningRequests } from './running-requests.js';
import { vllmDp } from './vllm-dp.js';
import { waitingQueue } from './waiting-queue.js';

/** Every scorer of `weighted`: a new one is a file and a line here. */
export const SCORERS: readonly Scorer[] = [
  prefixAffinity,
  precisePrefixCache,
  noHitLru,
  queueDepth,
  waitingQueue,
  kvUtilization,
  loadBalance,
  activeRequests,
  runningRequests,
  loadAware,
  vllmDp,
];

export function scorer(name: string, place = '--routing-scorers'): Scorer {
  return findNamed('scorer', SCORERS, name, place);
}
