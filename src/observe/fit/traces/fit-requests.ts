import type { RequestCosts, StepCosts } from '../../../replica/latency/profile.js';
import { profileLatency } from '../../../replica/latency/profile-latency.js';
import { type ProfileFamily, priorResiduals, valuesAt } from '../families/profile-family.js';
import { type LeastSquares, leastSquares } from '../solve/least-squares.js';
import type { ObservedTrace } from './observed-trace.js';
import { replayTrace } from './replay-trace.js';
import { groupRequests, meansOf, type RequestGroup, rowsToReplay } from './request-groups.js';

/** Expected relative errors of a group's means with a perfect model: the hardware itself is not more repeatable. */
const USUAL_TTFT_ERROR = 0.03;
const USUAL_ITL_ERROR = 0.01;
/** Slopes are taken this far apart: a share of the doubt, for what is in much doubt moves little. */
const WIDTH = 0.4;
const LEAST_WIDTH = 0.03;
const MOST_WIDTH = 0.4;
/** Used for a group that never got its tokens. */
const NEVER = 10;

export interface RequestFit {
  values: number[];
  step: StepCosts;
  request: RequestCosts;
  solution: LeastSquares;
  /** Residuals of requests; the others are those of the priors. */
  observations: number;
}

/** A trace, and the rows at its beginning whose latencies are looked at. */
export interface LeadingRows {
  trace: ObservedTrace;
  rows: number;
}

/**
 * The profile of a family with which simulated requests have the observed latencies: each try sends the traces through
 * a simulated engine. The residuals are the logarithms of ratios of group means.
 */
export function fitRequests(
  family: ProfileFamily,
  parts: readonly LeadingRows[],
  progress: (tries: number, loss: number) => void,
): RequestFit {
  const groups = parts.map(({ trace, rows }) => groupRequests(trace, rows));
  const needed = parts.map(({ trace, rows }) => rowsToReplay(trace, rows));
  let tries = 0;
  const residuals = (at: Float64Array): Float64Array => {
    const latency = profileLatency(family.costsOf(valuesAt(family, at)));
    tries++;
    const errors = parts.flatMap(({ trace }, i) => {
      const { ttftUs, e2eUs } = replayTrace(trace, latency, needed[i]!);
      return groups[i]!.flatMap((group) => groupErrors(group, meansOf(trace, group.rows, ttftUs, e2eUs)));
    });
    return Float64Array.from([...errors, ...priorResiduals(family, at)]);
  };
  const start = new Float64Array(family.parameters.length);
  const widths = family.parameters.map(({ doubt }) => Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, WIDTH * doubt)));
  const solution = leastSquares(start, widths, residuals, (_, loss) => progress(tries, loss));
  const values = valuesAt(family, solution.at);
  const observations = solution.residuals.length - priorResiduals(family, start).length;
  return { values, ...family.costsOf(values), solution, observations };
}

function groupErrors(seen: RequestGroup, simulated: { ttftUs: number; itlUs: number }): number[] {
  const errors = [ratio(simulated.ttftUs, seen.ttftUs) / USUAL_TTFT_ERROR];
  if (seen.itlUs > 0) errors.push(ratio(simulated.itlUs, seen.itlUs) / USUAL_ITL_ERROR);
  return errors;
}

function ratio(simulated: number, seen: number): number {
  return simulated > 0 ? Math.log(simulated / seen) : NEVER;
}
