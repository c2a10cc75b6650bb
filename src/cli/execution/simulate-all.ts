import type { RunInputs } from '../../experiment/experiment.js';
import { type ExperimentProgress, simulateRuns } from '../../experiment/run-experiment.js';
import type { RunExecutor } from '../../experiment/runs/executor.js';
import { NO_CACHE, type RunCache } from '../../experiment/runs/run-cache.js';
import type { RunSummary } from '../../experiment/runs/run-summary.js';
import type { Diagnostics } from '../diagnostics.js';
import type { CliIo } from '../io.js';
import { createExperimentProgress } from './experiment-progress.js';
import type { SignalCleanUps } from './signal-clean-ups.js';

export interface Surroundings {
  executor: RunExecutor;
  cache: RunCache;
  signals: SignalCleanUps;
  io: CliIo;
  diagnostics: Diagnostics;
}

/** Simulates runs with a progress bar; a signal keeps finished runs in the cache and reports them. */
export async function simulateAll<Kept = RunSummary>(
  runs: readonly RunInputs[],
  { executor, cache, signals, io, diagnostics }: Surroundings,
  keep?: (summary: RunSummary) => Kept,
): Promise<Kept[]> {
  const bar = createExperimentProgress(io);
  let state: ExperimentProgress = { done: 0, total: runs.length, computed: 0, notKept: 0 };
  const stopped = () => {
    bar.end();
    const kept = `; ${state.done} of ${state.total} runs are cached; the same command continues from there`;
    io.stderr.write(`twinyard: stopped${cache === NO_CACHE ? '' : kept}\n`);
  };
  signals.add(stopped);
  try {
    const update = (now: ExperimentProgress) => {
      state = now;
      executor.update?.(now.done, now.total);
      bar.update(now, executor.status);
    };
    return await simulateRuns(runs, executor, cache, update, keep);
  } finally {
    signals.remove(stopped);
    bar.end();
    diagnostics.info(`${state.total} runs, ${state.computed} of them simulated now`);
    if (state.notKept > 0) diagnostics.warn(`${state.notKept} results could not be cached and will be computed again`);
  }
}
