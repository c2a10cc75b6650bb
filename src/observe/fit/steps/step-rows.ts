import type { Slowdown } from '../../../replica/latency/profile.js';
import { batchTokens } from '../../../replica/latency/profile-latency.js';
import { GpuLoad } from '../../../replica/latency/profile-load.js';
import type { StepSample } from './step-sample.js';
import type { Part } from './step-terms.js';

/** This share of the GPU's times per token may be wrong: full load must not come from an outlier. */
const MISTAKEN = 0.001;
/** The time over which the speed of an H200 follows its past load. */
const LOAD_OVER_US = 50_000;

/** A measurement that costs are fitted to: a step, or the GPU's or the host's part of it. */
export interface StepRow {
  sample: StepSample;
  part: Part;
  us: number;
  /** The square of the GPU's load before the step: so it slows down. */
  load2: number;
  /** The row that errors are relative to: for the host's part the GPU's part of the same step, otherwise itself. */
  shareOf: number;
}

/** How the load of a GPU is reckoned from these steps: at full load a token takes as long as in the quickest of them. */
export function loadMeasure(samples: readonly StepSample[]): Omit<Slowdown, 'share'> {
  const tokenUs = Float64Array.from(samples, (sample) => gpuUs(sample) / Math.max(1, batchTokens(sample.shape))).sort();
  const mistaken = Math.min(samples.length - 1, Math.ceil(MISTAKEN * samples.length));
  return { tokenUs: tokenUs[mistaken]!, overUs: LOAD_OVER_US };
}

/** The GPU's load before each step. Steps that were timed alone were repeated; in service each follows the last one. */
export function loadsOf(samples: readonly StepSample[], measure: Omit<Slowdown, 'share'>): Float64Array {
  const load = new GpuLoad(measure);
  return Float64Array.from(samples, ({ shape, us, restUs = 0, inService }) => {
    const tokens = batchTokens(shape);
    if (!inService) return load.steady(tokens, us);
    load.rest(restUs);
    const before = load.share;
    load.add(tokens, us);
    return before;
  });
}

/** A row for each step, in their order, and behind them one for each measured time of the host. Without measure no load. */
export function stepRowsOf(samples: readonly StepSample[], measure: Omit<Slowdown, 'share'> | null): StepRow[] {
  // The load of steps that were timed alone depends on their shape: it shows nothing.
  const isServed = samples.some(({ inService }) => inService);
  const loads = measure !== null && isServed ? loadsOf(samples, measure) : null;
  const rows = samples.map((sample, i): StepRow => {
    const part = sample.hostUs === undefined ? 'whole' : 'gpu';
    return { sample, part, us: gpuUs(sample), load2: loads === null ? 0 : loads[i]! ** 2, shareOf: i };
  });
  for (const [i, sample] of samples.entries()) {
    if (sample.hostUs === undefined) continue;
    rows.push({ sample, part: 'host', us: sample.hostUs, load2: 0, shareOf: i });
  }
  return rows;
}

function gpuUs({ us, hostUs = 0 }: StepSample): number {
  return us - hostUs;
}
