import type { Saturation, SaturationState } from '../../simulator/result-document.js';
import type { RunInputs } from '../experiment.js';
import type { MetricValues } from '../metrics.js';
import type { RunSummary } from '../runs/run-summary.js';
import type { SweepAxis } from './axis.js';
import type { Constraint, MeasureLookUp } from './constraint.js';
import type { Measure, Objective } from './measure.js';
import type { SweepPoint, SweepSample } from './sample-points.js';

/** Points of settings under the same workloads and seeds, with what is asked of them. */
export interface Sweep {
  title: string;
  axes: readonly SweepAxis[];
  sample: SweepSample;
  sampleSeed: number;
  seeds: readonly number[];
  points: readonly PlannedPoint[];
  /** Points that constraints over settings exclude: they are not simulated. */
  excluded: number;
  /** Points that cannot be simulated, with the reason: a model that does not fit its GPUs. */
  refused: readonly RefusedPoint[];
  constraints: readonly Constraint[];
  /** By which the best point is chosen; null: by what is asked. */
  objective: Objective | null;
  /** The dimensions of the Pareto front; null: by what varies. */
  pareto: readonly Objective[] | null;
  notes: readonly string[];
  /** The command that computes the same again. */
  command: string;
}

/** A sweep without its runs: enough to read their results. */
export interface SweepPlan extends Omit<Sweep, 'points'> {
  points: readonly Omit<PlannedPoint, 'run'>[];
}

export interface PlannedPoint {
  values: SweepPoint;
  /** Of this point: values of the axes, of flags, and defaults. */
  settings: Readonly<Record<string, number | string>>;
  gpus: number;
  run: RunInputs;
}

export interface RefusedPoint {
  values: SweepPoint;
  reason: string;
}

/** All points of a seed before the next seed: one that is stopped early has whole points, and workloads stay warm. */
export function sweepRuns({ points, seeds }: Sweep): RunInputs[] {
  return seeds.flatMap((seed) => points.map(({ run }) => ({ ...run, config: { ...run.config, seed } })));
}

/** What a sweep keeps of a run. */
export interface SweptRun {
  metrics: MetricValues;
  ttftMs: readonly number[];
  e2eMs: readonly number[];
  /** Whether the fleet kept up with the arrivals. */
  state: SaturationState;
  /** Requests per second that a saturated fleet serves. */
  keptRps: number | null;
  /** What detectors said, where some were chosen. */
  detectors?: Saturation['detectors'];
  stepTimes: string;
}

export function sweptRun({ metrics, ttftMs, e2eMs, saturation, stepTimes }: RunSummary): SweptRun {
  const { detectors, kept_rps: keptRps, state } = saturation;
  return { metrics, ttftMs, e2eMs, stepTimes, state, keptRps, ...(detectors === undefined ? {} : { detectors }) };
}

/** The value of a measure at a point, before or after it was simulated. */
export function lookUpIn(
  { settings, gpus }: Pick<PlannedPoint, 'settings' | 'gpus'>,
  metrics?: MetricValues,
): MeasureLookUp {
  return (measure: Measure) => {
    if (measure.kind === 'metric') return metrics?.[measure.key] ?? null;
    return measure.kind === 'gpus' ? gpus : (settings[measure.name] ?? null);
  };
}
