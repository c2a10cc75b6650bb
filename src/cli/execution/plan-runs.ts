import type { RunInputs } from '../../experiment/experiment.js';
import { type SimulateRuns, simulateRuns } from '../../experiment/run-experiment.js';
import { NO_CACHE } from '../../experiment/runs/run-cache.js';
import type { Surroundings } from './simulate-all.js';

const REDRAW_MS = 100;
const CLEAR = '\r\x1b[K';

/** Simulates the runs of several searches side by side, with one line of progress; a signal says what is kept. */
export interface PlanRuns {
  simulate: SimulateRuns;
  end(): void;
}

export function createPlanRuns({ executor, cache, signals, io, diagnostics }: Surroundings): PlanRuns {
  const isShown = io.stderr.isTTY === true;
  let asked = 0;
  let done = 0;
  let computed = 0;
  let notKept = 0;
  let drawn = Number.NEGATIVE_INFINITY;
  const draw = () => {
    const now = io.now();
    if (!isShown || now - drawn < REDRAW_MS) return;
    drawn = now;
    io.stderr.write(
      `${CLEAR}${done} runs done, ${asked - done} under way${status()}; the search decides how many follow`,
    );
  };
  const status = () => (executor.status ? `, ${executor.status}` : '');
  const clear = () => {
    if (drawn > Number.NEGATIVE_INFINITY) io.stderr.write(CLEAR);
  };
  const stopped = () => {
    clear();
    const kept = `; ${done} runs are cached; the same command continues from there`;
    io.stderr.write(`twinyard: stopped${cache === NO_CACHE ? '' : kept}\n`);
  };
  signals.add(stopped);
  return {
    async simulate(runs: readonly RunInputs[]) {
      asked += runs.length;
      let before = { done: 0, computed: 0, notKept: 0 };
      return simulateRuns(runs, executor, cache, (state) => {
        done += state.done - before.done;
        computed += state.computed - before.computed;
        notKept += state.notKept - before.notKept;
        before = state;
        executor.update?.(done, asked);
        draw();
      });
    },
    end() {
      signals.remove(stopped);
      clear();
      diagnostics.info(`${done} runs, ${computed} of them simulated now`);
      if (notKept > 0) diagnostics.warn(`${notKept} results could not be cached and will be computed again`);
    },
  };
}
