import { sharedTokens } from '../../../replica/latency/profile-latency.js';
import { fitSteps, type StepFit, type StepFitSettings } from './fit-steps.js';
import type { StepSample } from './step-sample.js';

/** Cost of a token in a shared block, relative to an unshared one, on an H200. */
const SHARED_CONTEXT = 0.75;

/** With less shared context than this, steps do not show what sharing saves. */
const LEAST_SHARE = 0.05;
const GOLDEN = (Math.sqrt(5) - 1) / 2;
const ROUNDS = 8;

export interface SharedContextFit {
  fit: StepFit;
  /** Whether the cost of a shared token was measured here; otherwise it is that of another engine. */
  measured: boolean;
}

/** Fits steps together with the cost of a shared token of context, where they show it: by golden section. */
export function fitSharedContext(
  samples: readonly StepSample[],
  settings: Omit<StepFitSettings, 'sharedContext'>,
): SharedContextFit {
  const at = (sharedContext: number) => fitSteps(samples, { ...settings, sharedContext });
  if (!tellsSharing(samples)) return { fit: at(SHARED_CONTEXT), measured: false };
  let [low, high] = [0, 1];
  let [left, right] = [at(1 - GOLDEN), at(GOLDEN)];
  for (let round = 0; round < ROUNDS; round++) {
    if (left.loss < right.loss) {
      high = right.costs.sharedContext;
      [left, right] = [at(high - GOLDEN * (high - low)), left];
    } else {
      low = left.costs.sharedContext;
      [left, right] = [right, at(low + GOLDEN * (high - low))];
    }
  }
  return { fit: left.loss < right.loss ? left : right, measured: true };
}

function tellsSharing(samples: readonly StepSample[]): boolean {
  let shared = 0;
  let context = 0;
  for (const { shape } of samples) {
    shared += sharedTokens(shape);
    context += shape.decodeContext;
  }
  return shared > LEAST_SHARE * context;
}
