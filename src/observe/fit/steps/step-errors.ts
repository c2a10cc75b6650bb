import { percentile } from '../../../kernel/percentile.js';
import type { StepCosts } from '../../../replica/latency/profile.js';
import { launchedTokens, stepTime } from '../../../replica/latency/profile-latency.js';
import type { StepErrors } from '../fit-report.js';
import { loadsOf } from './step-rows.js';
import type { StepSample } from './step-sample.js';

/** The errors of a profile on steps that were measured in service, or on all if none was. */
export function stepErrors(step: StepCosts, samples: readonly StepSample[]): StepErrors {
  const timeOf = stepTime(step);
  const served = samples.filter(({ inService }) => inService);
  const judged = served.length > 0 ? served : samples;
  const loads = step.slowdown === undefined ? null : loadsOf(judged, step.slowdown);
  let predicted = 0;
  let measured = 0;
  const { aboveTokens, firstUs } = step.launch ?? { aboveTokens: 0, firstUs: 0 };
  const errors = Float64Array.from(judged, ({ shape, us, firstOfSize }, i) => {
    const isFirst = firstOfSize && launchedTokens(shape, aboveTokens) > 0;
    const stepUs = timeOf(shape, loads === null ? 0 : loads[i]!) + (isFirst ? firstUs : 0);
    predicted += stepUs;
    measured += us;
    return Math.abs(stepUs / us - 1);
  }).sort();
  return {
    steps: judged.length,
    medianAbs: percentile(errors, 50),
    p90Abs: percentile(errors, 90),
    total: predicted / measured - 1,
  };
}
