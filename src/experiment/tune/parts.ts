import { counted } from '../../report/text/format-number.js';
import { dependsOnSeed, type WorkloadRecipe } from '../recipes/workload-recipe.js';

/** One of the workloads that candidates are measured with: a seed, or a window of a trace. */
export interface WorkloadPart {
  seed: number;
  workload: WorkloadRecipe;
}

/** What the search may see, and what only the final measurement sees. */
export interface WorkloadParts {
  tuning: readonly WorkloadPart[];
  heldOut: readonly WorkloadPart[];
  /** `seeds 42 to 47, held out seeds 1042 to 1049`. */
  text: string;
}

const TUNING_SEEDS = 6;
const HELD_OUT_SEEDS = 8;
/** Far from the seeds of the search, whatever their number. */
const HELD_OUT_FROM = 1_000_000;
const WINDOWS = 10;
/** Shorter windows are mostly warm-up. */
const LEAST_REQUESTS = 40;

/**
 * The parts of a workload. Generated workloads are drawn again with other seeds; a recorded one is cut into windows, the last
 * four of ten held out: a policy is tuned on the past and judged on what came later.
 * @param requests of the whole workload
 */
export function partsOf(workload: WorkloadRecipe, firstSeed: number, requests: number): WorkloadParts {
  if (workload.kind === 'trace' && !dependsOnSeed(workload)) {
    const windows = Math.max(2, Math.min(WINDOWS, Math.floor(requests / LEAST_REQUESTS)));
    const tuned = Math.max(1, Math.floor(windows * 0.6));
    const part = (i: number): WorkloadPart => ({
      seed: firstSeed,
      workload: { ...workload, window: { from: i / windows, to: (i + 1) / windows } },
    });
    const all = Array.from({ length: windows }, (_, i) => part(i));
    return {
      tuning: all.slice(0, tuned),
      heldOut: all.slice(tuned),
      text: `tuned on the first ${Math.round((tuned / windows) * 100)} % of the trace in ${counted(tuned, 'window')}, judged on the rest in ${windows - tuned}`,
    };
  }
  const seeds = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => ({ seed: from + i, workload }));
  const held = firstSeed + HELD_OUT_FROM;
  return {
    tuning: seeds(firstSeed, TUNING_SEEDS),
    heldOut: seeds(held, HELD_OUT_SEEDS),
    text: `tuned with seeds ${firstSeed} to ${firstSeed + TUNING_SEEDS - 1}, judged with seeds ${held} to ${held + HELD_OUT_SEEDS - 1}`,
  };
}
