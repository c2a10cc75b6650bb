import { percentile } from '../../kernel/percentile.js';
import type { StepCosts } from '../../replica/latency/profile.js';
import { launchedTokens, profileLatency } from '../../replica/latency/profile-latency.js';
import type { StepErrors } from './fit-report.js';
import type { StepSample } from './step-sample.js';

const NO_REQUEST_COSTS = { queueingUs: 0, outputTokenUs: 0, postDecodeUs: 0 };

/** What a profile makes of steps that were measured in service, or of all if none was. */
export function stepErrors(step: StepCosts, samples: readonly StepSample[]): StepErrors {
  const latency = profileLatency({ step, request: NO_REQUEST_COSTS });
  const served = samples.filter(({ inService }) => inService);
  const judged = served.length > 0 ? served : samples;
  let predicted = 0;
  let measured = 0;
  const { aboveTokens, firstUs } = step.launch ?? { aboveTokens: 0, firstUs: 0 };
  const errors = Float64Array.from(judged, ({ shape, us, firstOfSize }) => {
    const isFirst = firstOfSize && launchedTokens(shape, aboveTokens) > 0;
    const stepUs = latency.stepUs(shape) + (isFirst ? firstUs : 0);
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
