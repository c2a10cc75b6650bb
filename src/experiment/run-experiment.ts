import type { RunInputs } from './experiment.js';
import type { RunExecutor } from './runs/executor.js';
import { NO_CACHE, type RunCache } from './runs/run-cache.js';
import { programFingerprint, runKeys } from './runs/run-key.js';
import type { RunSummary } from './runs/run-summary.js';

/** The progress of an experiment: reported after the cache was searched, and after every run. */
export interface ExperimentProgress {
  done: number;
  total: number;
  /** Of those done, how many were computed now. */
  computed: number;
  /** Results that could not be cached. */
  notKept: number;
}

/** Simulates the runs that are not in the cache, each once. Results are in the order of the runs. */
export async function simulateRuns(
  runs: readonly RunInputs[],
  executor: RunExecutor,
  cache: RunCache,
  progress: (state: ExperimentProgress) => void = () => {},
): Promise<RunSummary[]> {
  // Without a cache keys only identify equal runs.
  const keys = runKeys(runs, cache === NO_CACHE ? '' : await programFingerprint());
  const summaries = new Map<string, RunSummary>();
  const missing: [key: string, run: RunInputs][] = [];
  const found = await Promise.all(keys.map((key) => cache.get(key)));
  for (const [i, key] of keys.entries()) {
    const summary = found[i];
    if (summary !== undefined) summaries.set(key, summary);
    else if (!missing.some(([other]) => other === key)) missing.push([key, runs[i]!]);
  }
  const state = { done: 0, total: runs.length, computed: 0, notKept: 0 };
  const told = () => {
    state.done = keys.filter((key) => summaries.has(key)).length;
    progress({ ...state });
  };
  told();

  const work = async () => {
    for (let next = missing.shift(); next !== undefined; next = missing.shift()) {
      const [key, run] = next;
      const summary = await executor.run(run);
      summaries.set(key, summary);
      if (!cache.put(key, summary)) state.notKept++;
      state.computed++;
      told();
    }
  };
  await Promise.all(Array.from({ length: executor.width }, work));
  return keys.map((key) => summaries.get(key)!);
}
