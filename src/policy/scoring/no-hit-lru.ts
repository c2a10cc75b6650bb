import { NONE, RecencyLists } from '../../kernel/recency-lists.js';
import type { Scorer, ScorerInstance } from '../contract.js';
import type { FleetView } from '../fleet-view.js';
import { formerSlots } from '../rearrange.js';

/** The only list of `RecencyLists`. */
const USED = 0;

/**
 * Spreads prompts that no cache holds: the replica that got such a prompt longest ago is best, after those that never got one.
 * Only cold requests change the order. `placed` refers to the request that was scored last.
 */
export const noHitLru: Scorer = {
  name: 'no-hit-lru',
  summary: 'Sends prompts that no cache holds to the replica that got such a prompt longest ago; neutral otherwise.',
  goodFor:
    'Use beside a cache scorer: it spreads prompts that no cache holds, so that no replica collects all new prefixes.',
  notFor: 'Balancing load: it counts turns, not work, and is neutral for prompts that are cached somewhere.',
  reads: ['replicaCache'],
  formula: 'any cached block anywhere: 0.5; else 1 - rank / (n - 1), rank 0 for the least recently used; 1 when alone',
  create: ({ replicas }) => createNoHitLru(replicas),
};

function createNoHitLru(replicas: number): ScorerInstance {
  const used = new Uint8Array(replicas);
  const recency = new RecencyLists(1, replicas);
  let cold = false;
  let ids: readonly string[] = [];

  /** Used replicas keep their order, in their new slots. */
  function follow(now: readonly string[]): void {
    const from = formerSlots(ids, now);
    const order: number[] = [];
    for (let i = recency.oldest[USED]!; i !== NONE; i = recency.newer(i)) order.push(i);
    used.fill(0);
    recency.clear();
    for (const before of order) {
      const slot = from.indexOf(before);
      if (slot >= 0) use(slot);
    }
    ids = now;
  }

  function use(replica: number): void {
    if (used[replica] === 1) recency.remove(USED, replica);
    used[replica] = 1;
    recency.append(USED, replica);
  }

  /** Replicas never used come first, in fleet order. */
  function scoreByAge(view: FleetView, candidates: number, scores: Float64Array): void {
    const lastRank = Math.max(1, candidates - 1);
    let rank = 0;
    for (let i = 0; i < view.size; i++) {
      if (view.eligible[i] !== 0 && used[i] === 0) scores[i] = 1 - rank++ / lastRank;
    }
    for (let i = recency.oldest[USED]!; i !== NONE; i = recency.newer(i)) {
      if (i < view.size && view.eligible[i] !== 0) scores[i] = 1 - rank++ / lastRank;
    }
  }

  return {
    score(request, view, scores) {
      if (view.ids !== ids) follow(view.ids);
      let candidates = 0;
      cold = true;
      for (let i = 0; i < view.size; i++) {
        if (view.eligible[i] === 0) continue;
        candidates++;
        if (request.cachedBlocks[i]! > 0) cold = false;
      }
      if (cold) scoreByAge(view, candidates, scores);
      else for (let i = 0; i < view.size; i++) if (view.eligible[i] !== 0) scores[i] = 0.5;
    },
    /** By slot: its place in the order of use from 1, 0 for replicas never used. */
    save(view, state) {
      state.hasColumn = true;
      state.column.fill(0, 0, view.size);
      let place = 0;
      for (let i = recency.oldest[USED]!; i !== NONE; i = recency.newer(i)) state.column[i] = ++place;
    },
    restore({ column }, view) {
      const order = Array.from({ length: view.size }, (_, slot) => slot).filter((slot) => column[slot]! > 0);
      used.fill(0);
      recency.clear();
      for (const slot of order.sort((a, b) => column[a]! - column[b]!)) use(slot);
      ids = view.ids;
    },
    placed(_request, replica) {
      if (cold) use(replica);
    },
    remembered: () => used.reduce((sum, one) => sum + one, 0),
  };
}
