import { fitSharedContext, type SharedContextFit } from './shared-context.js';
import { stepIntervals } from './step-confidence.js';
import type { StepSample } from './step-sample.js';

/** With fewer steps in service the range of the slowdown is as doubtful as the slowdown. */
const LEAST_SERVED = 500;
/** A GPU that takes more than twice as long has another reason for it. */
const MOST_SLOWDOWN = 1;

export interface LoadedStepsFit extends SharedContextFit {
  /** A slowdown would explain some of the steps, but chance would as well. */
  doubtful: boolean;
}

/**
 * Fits steps, and how much the GPU slows down under load where they tell that: at loads that were not seen a slowdown that is
 * mere chance would multiply.
 */
export function fitLoadedSteps(samples: readonly StepSample[], launchedAbove: number): LoadedStepsFit {
  const found = fitSharedContext(samples, { launchedAbove, slowsDown: true });
  const { slowdown } = found.fit.costs;
  if (slowdown === undefined) return { ...found, doubtful: false };
  const { low } = stepIntervals(found.fit).find(({ name }) => name === 'slowdown')!;
  const served = samples.reduce((count, { inService }) => count + (inService ? 1 : 0), 0);
  const isKnown = served >= LEAST_SERVED && low !== null && low > 0 && slowdown.share <= MOST_SLOWDOWN;
  if (isKnown) return { ...found, doubtful: false };
  return { ...fitSharedContext(samples, { launchedAbove, slowsDown: false }), doubtful: true };
}
