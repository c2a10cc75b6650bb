import { stepTimesText } from '../../report/text/step-times-text.js';
import type { Saturation } from '../../simulator/result-document.js';
import type { SimulationResult } from '../../simulator/simulate.js';
import type { RunInputs } from '../experiment.js';
import { type MetricValues, metricValues } from '../metrics.js';
import { quantilesMs } from './course/latency-quantiles.js';
import { type LoadOverTime, loadOverTime } from './course/load-over-time.js';
import { type RunCourse, runCourse } from './course/run-course.js';
import { type SteadyState, steadyState } from './steady-state.js';

/** The summary of a run: enough for tables and plots, of the same size for any number of requests. */
export interface RunSummary {
  requests: number;
  inputTokens: number;
  metrics: MetricValues;
  /** Latencies at `QUANTILES`; empty when nothing completed. */
  ttftMs: number[];
  e2eMs: number[];
  targets: TargetCounts;
  load: LoadOverTime;
  saturation: Saturation;
  /** SLO classes with a target that no request has. */
  absentClasses: string[];
  /** Where the step times come from, and how far to believe them. */
  stepTimes: string;
  /** Only where the run asks for it. */
  steady?: SteadyState;
  course?: RunCourse;
}

/** How many requests each replica got. */
export interface TargetCounts {
  least: number;
  most: number;
  /** Only for fleets that are small enough to plot. */
  byInstance: number[] | null;
}

export const MAX_TARGETS = 64;

export function summarise(
  { document, table, outcomes }: SimulationResult,
  { course, steady: measures }: Pick<RunInputs, 'course' | 'steady'> = {},
): RunSummary {
  const { cluster, instances } = document;
  const counts = instances.map(({ injected_requests }) => injected_requests);
  return {
    requests: table.count,
    inputTokens: cluster.total_input_tokens,
    metrics: metricValues(document),
    ttftMs: quantilesMs(outcomes.ttftUs.subarray(0, table.count)),
    e2eMs: quantilesMs(outcomes.e2eUs.subarray(0, table.count)),
    targets: {
      least: counts.reduce((least, count) => Math.min(least, count), Number.POSITIVE_INFINITY),
      most: counts.reduce((most, count) => Math.max(most, count), 0),
      byInstance: counts.length <= MAX_TARGETS ? counts : null,
    },
    load: loadOverTime(table, outcomes, instances.length),
    saturation: document.saturation,
    absentClasses: Object.entries(document.goodput?.per_class ?? {}).flatMap(([name, { count }]) =>
      count === 0 ? name : [],
    ),
    stepTimes: stepTimesText(document.latency),
    ...(measures === undefined ? {} : { steady: steadyState(table, outcomes, document, measures) }),
    ...(course === true ? { course: runCourse(table, outcomes, instances.length) } : {}),
  };
}
