import { type ExperimentProgress, simulateRuns } from '../../experiment/run-experiment.js';
import { NO_CACHE } from '../../experiment/runs/run-cache.js';
import type { SimulateRuns } from '../../experiment/tune/evaluations.js';
import { createExperimentProgress } from '../compare/experiment-progress.js';
import type { Surroundings } from '../compare/simulate-all.js';

/** Simulates the rounds of a search with one progress bar; a signal keeps finished runs in the cache and reports them. */
export function tuneSimulation(
  { executor, cache, signals, io, diagnostics }: Surroundings,
  budget: number,
): { simulate: SimulateRuns; end(): void } {
  const bar = createExperimentProgress(io);
  let [done, computed, notKept] = [0, 0, 0];
  const stopped = () => {
    bar.end();
    const kept = `; ${done} runs are cached; the same command continues from there`;
    io.stderr.write(`twinyard: stopped${cache === NO_CACHE ? '' : kept}\n`);
  };
  signals.add(stopped);
  return {
    async simulate(runs) {
      const before = { done, computed, notKept };
      const update = (now: ExperimentProgress) => {
        done = before.done + now.done;
        computed = before.computed + now.computed;
        notKept = before.notKept + now.notKept;
        bar.update({ done, computed, notKept, total: Math.max(budget, done) });
      };
      return simulateRuns(runs, executor, cache, update);
    },
    end() {
      signals.remove(stopped);
      bar.end();
      diagnostics.info(`${done} runs, ${computed} of them simulated now`);
      if (notKept > 0) diagnostics.warn(`${notKept} results could not be cached and will be computed again`);
    },
  };
}
