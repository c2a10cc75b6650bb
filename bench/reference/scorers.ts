import { OrderedIds } from './ordered-ids.js';
import type { ReferenceRequest } from './request.js';
import { effectiveLoad, type RouterState, type Snapshot } from './snapshots.js';

/** One dimension of `weighted`: a score per candidate, in their order. */
export interface ReferenceScorer {
  score(request: ReferenceRequest, state: RouterState): number[];
  placed?(request: ReferenceRequest, index: number): void;
}

const ROUTED_BLOCKS = 10_000;

/** Least gets 1, greatest gets 0; 1 for all when they are equal. */
function fewerIsBetter(values: number[]): number[] {
  const max = Math.max(0, ...values);
  const min = Math.min(...values);
  return values.map((value) => (max === min ? 1 : (max - value) / (max - min)));
}

function moreIsBetter(values: number[]): number[] {
  const max = Math.max(0, ...values);
  const min = Math.min(...values);
  return values.map((value) => (max === min ? 1 : (value - min) / (max - min)));
}

function ofSnapshots(score: (candidates: Snapshot[]) => number[]): () => ReferenceScorer {
  return () => ({ score: (_request, state) => score(state.candidates) });
}

/** Remembers which prompt blocks it sent where. */
function prefixAffinity(): ReferenceScorer {
  const sent = new Map<number, OrderedIds>();
  return {
    score: (request, state) =>
      state.candidates.map(({ index }) => {
        const chains = request.promptChains;
        if (chains.length === 0) return 0;
        let matched = 0;
        while (matched < chains.length && sent.get(index)?.has(chains[matched]!)) matched += 1;
        return matched / chains.length;
      }),
    placed: (request, index) => {
      const known = sent.get(index) ?? new OrderedIds();
      sent.set(index, known);
      for (const chain of request.promptChains) {
        if (known.has(chain)) known.remove(chain);
        else if (known.size === ROUTED_BLOCKS) known.takeFirst();
        known.addLast(chain);
      }
    },
  };
}

/** Spreads prompts without a cached prefix over the replicas in turn. */
function noHitLru(): ReferenceScorer {
  let oldestFirst: number[] = [];
  let cold = false;
  return {
    score: (request, state) => {
      const { candidates } = state;
      cold = candidates.every(({ index }) => state.cachedBlocks(request, index) === 0);
      if (!cold) return candidates.map(() => 0.5);
      if (candidates.length === 1) return [1];
      const indexes = candidates.map(({ index }) => index);
      const unused = indexes.filter((index) => !oldestFirst.includes(index));
      const ranked = unused.concat(oldestFirst.filter((index) => indexes.includes(index)));
      return indexes.map((index) => 1 - ranked.indexOf(index) / (candidates.length - 1));
    },
    placed: (_request, index) => {
      if (cold) oldestFirst = oldestFirst.filter((other) => other !== index).concat(index);
    },
  };
}

function activeRequests(candidates: Snapshot[]): number[] {
  const max = Math.max(0, ...candidates.map((c) => c.inFlight));
  return candidates.map((c) => (c.inFlight === 0 ? 1 : (max - c.inFlight) / max));
}

function loadAware(candidates: Snapshot[]): number[] {
  return candidates.map((c) => (c.queueDepth === 0 ? 0.5 : 0.5 * (1 - Math.min(c.queueDepth, 128) / 128)));
}

export const SCORERS: Record<string, () => ReferenceScorer> = {
  'prefix-affinity': prefixAffinity,
  'precise-prefix-cache': () => ({
    score: (request, state) => moreIsBetter(state.candidates.map(({ index }) => state.cachedBlocks(request, index))),
  }),
  'no-hit-lru': noHitLru,
  'queue-depth': ofSnapshots((candidates) => fewerIsBetter(candidates.map(effectiveLoad))),
  'waiting-queue': ofSnapshots((candidates) => fewerIsBetter(candidates.map((c) => c.queueDepth))),
  'kv-utilization': ofSnapshots((candidates) => candidates.map((c) => 1 - c.kvUtilization)),
  'load-balance': ofSnapshots((candidates) => candidates.map((c) => 1 / (1 + effectiveLoad(c)))),
  'active-requests': ofSnapshots(activeRequests),
  'running-requests': ofSnapshots((candidates) => fewerIsBetter(candidates.map((c) => c.batchSize))),
  'load-aware': ofSnapshots(loadAware),
  'vllm-dp': ofSnapshots((candidates) => fewerIsBetter(candidates.map((c) => 4 * c.queueDepth + c.batchSize))),
};
