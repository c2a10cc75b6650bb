import type { RunInputs } from './experiment.js';
import type { RunExecutor } from './runs/executor.js';
import { NO_CACHE, type RunCache } from './runs/run-cache.js';
import type { RunSummary } from './runs/run-summary.js';
import { readResult, type Shard, shardsOf } from './runs/shard.js';

/** Simulates runs, several at a time; known ones come from the cache. */
export type SimulateRuns = (runs: readonly RunInputs[]) => Promise<RunSummary[]>;

/** The progress of an experiment: reported after the cache was searched, and after every run. */
export interface ExperimentProgress {
  done: number;
  total: number;
  /** Of those done, how many were computed now. */
  computed: number;
  /** Results that could not be cached. */
  notKept: number;
}

/** Files of the cache that are read at once: far below what a process may have open. */
const READ_AT_ONCE = 64;

/**
 * Simulates the runs that are not in the cache, each once. Results are in the order of the runs, as `keep` reads them:
 * an experiment with many runs keeps only what it reports.
 */
export async function simulateRuns<Kept = RunSummary>(
  runs: readonly RunInputs[],
  executor: RunExecutor,
  cache: RunCache,
  progress: (state: ExperimentProgress) => void = () => {},
  keep: (summary: RunSummary) => Kept = (summary) => summary as Kept,
): Promise<Kept[]> {
  const shards = await shardsOf(runs, cache !== NO_CACHE || executor.isShared);
  const placesOf = new Map<string, number[]>();
  for (const [i, { hash }] of shards.entries()) {
    const places = placesOf.get(hash);
    if (places === undefined) placesOf.set(hash, [i]);
    else places.push(i);
  }
  const results = new Array<Kept>(runs.length);
  const state = { done: 0, total: runs.length, computed: 0, notKept: 0 };
  const finish = (hash: string, result: string) => {
    const places = placesOf.get(hash)!;
    const kept = keep(readResult(result));
    for (const place of places) results[place] = kept;
    state.done += places.length;
  };

  const unique = [...placesOf.values()].map(([first]) => shards[first!]!);
  const missing: Shard[] = [];
  for (let from = 0; from < unique.length; from += READ_AT_ONCE) {
    const some = unique.slice(from, from + READ_AT_ONCE);
    const found = await Promise.all(some.map(({ hash }) => cache.get(hash)));
    for (const [i, shard] of some.entries()) {
      const result = found[i];
      if (result === undefined) missing.push(shard);
      else finish(shard.hash, result);
    }
  }
  progress({ ...state });

  let next = 0;
  const work = async () => {
    while (next < missing.length) {
      const shard = missing[next++]!;
      const result = await executor.run(shard);
      if (!cache.put(shard.hash, result)) state.notKept++;
      finish(shard.hash, result);
      state.computed++;
      progress({ ...state });
    }
  };
  await Promise.all(Array.from({ length: Math.min(executor.width, missing.length) }, work));
  return results;
}
