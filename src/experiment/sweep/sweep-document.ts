import { studentT975 } from '../comparison/paired-difference.js';
import { type Metric, type MetricKey, metricOf, metricsOf } from '../metrics.js';
import { QUANTILES } from '../runs/course/latency-quantiles.js';
import { type DetectorVotes, detectorNotes, detectorVotes } from '../runs/detector-votes.js';
import type { SweepAxis } from './axis.js';
import { boundOf, type Constraint, holds, isOfSettings } from './constraint.js';
import { type LoadAxis, loadAxis } from './load-series.js';
import type { Objective } from './measure.js';
import { paretoFront } from './pareto.js';
import { chosenObjectives, constrainedMetric } from './ranking.js';
import type { SweepSample } from './sample-points.js';
import { lookUpIn, type SweepPlan, type SweptRun } from './sweep.js';
import { sweepVerdict } from './sweep-verdict.js';

/** The result of a sweep as one document. */
export interface SweepDocument {
  kind: 'Sweep';
  title: string;
  /** What was found, in a sentence or two. */
  verdict: string;
  axes: readonly { name: string; values: readonly string[] | { from: number; to: number; scale: 'linear' | 'log' } }[];
  sample: string;
  seeds: readonly number[];
  runs: number;
  constraints: readonly string[];
  /** What the best point is best in, the most important first. */
  best_by: readonly string[];
  pareto_by: readonly string[];
  /** Places in `points`; null where no point meets all constraints. */
  best: number | null;
  pareto: readonly number[];
  points: readonly SweptPoint[];
  excluded_points: number;
  refused_points: readonly { settings: Record<string, string>; reason: string }[];
  intervals: string;
  step_times: readonly string[];
  notes: readonly string[];
  command: string;
}

export interface SweptPoint {
  /** `num-instances=4, rate=10`. */
  name: string;
  settings: Record<string, string>;
  gpus: number;
  /** Null for what was not measured. */
  metrics: Partial<Record<MetricKey, SweptValue | null>>;
  /** With how many of the seeds each constraint over results holds. */
  constraints: Record<string, number>;
  /** Runs whose backlog grew until the end, and runs that are too short to tell. */
  saturated_runs: number;
  too_short_runs: number;
  /** Requests per second that the fleet served where it was saturated. */
  kept_rps: number | null;
  /** What detectors said, where some were chosen. */
  detectors?: DetectorVotes;
  /** Whether every constraint holds with every seed, and no run is saturated. */
  feasible: boolean;
  pareto: boolean;
}

/** The mean over seeds, and the ends of its 95 % confidence interval; null with one seed. */
export interface SweptValue {
  mean: number;
  low: number | null;
  high: number | null;
}

export interface SweepResult {
  document: SweepDocument;
  /** Latencies of each point at `quantiles`, the mean over seeds; empty where nothing completed. */
  curves: readonly { ttftMs: readonly number[]; e2eMs: readonly number[] }[];
  quantiles: readonly number[];
  constraints: readonly Constraint[];
  objectives: { best: readonly Objective[]; pareto: readonly Objective[] };
  axes: readonly SweepAxis[];
  /** Everything that some point measured, and of these what tables show. */
  metrics: readonly Metric[];
  headline: readonly Metric[];
  /** The metric that is constrained first, with its bound; TTFT p99 without one. */
  main: { metric: Metric; bound: number | null };
  load: LoadAxis | null;
}

/** @param runs of `sweepRuns`, in their order */
export function sweepResult(sweep: SweepPlan, runs: readonly SweptRun[]): SweepResult {
  const { points, seeds, constraints } = sweep;
  const ofPoint = points.map((_, i) => seeds.map((_, s) => runs[s * points.length + i]!));
  const ofResults = constraints.filter((one) => !isOfSettings(one));
  const keys = metricsOf(runs.map(({ metrics }) => metrics)).map(({ key }) => key);
  const swept = points.map((point, i): SweptPoint => {
    const own = ofPoint[i]!;
    const saturated = own.filter(({ state }) => state === 'saturated');
    const met = ofResults.map(
      (one) => own.filter(({ metrics }) => holds(one, lookUpIn(point, metrics)) === true).length,
    );
    return {
      name: pointName(sweep.axes, point.values),
      settings: settingsOf(sweep.axes, point.values),
      gpus: point.gpus,
      metrics: Object.fromEntries(keys.map((key) => [key, valueOver(own.map(({ metrics }) => metrics[key] ?? null))])),
      constraints: Object.fromEntries(ofResults.map(({ text }, at) => [text, met[at]!])),
      saturated_runs: saturated.length,
      too_short_runs: own.filter(({ state }) => state === 'too-short').length,
      kept_rps: leastOf(saturated.map(({ keptRps }) => keptRps)),
      ...detectorVotes(own.map(({ detectors }) => detectors)),
      // The latencies of a saturated run are those of its length: a longer one would break any bound.
      feasible: saturated.length === 0 && met.every((count) => count === seeds.length),
      pareto: false,
    };
  });
  const objectives = chosenObjectives(sweep);
  const scored = (by: readonly Objective[]) => {
    const candidates = swept.flatMap((point, i) => {
      const values = by.map((objective) => valueBy(objective, point, points[i]!.settings));
      return point.feasible && !values.includes(null) ? [{ i, values: values as number[] }] : [];
    });
    return candidates;
  };
  const front = scored(objectives.pareto);
  const pareto = paretoFront(front.map(({ values }) => values)).map((at) => front[at]!.i);
  for (const i of pareto) swept[i]!.pareto = true;
  const best = scored(objectives.best).reduce<{ i: number; values: number[] } | null>((least, one) => {
    return least === null || isLess(one.values, least.values) ? one : least;
  }, null);
  const document: SweepDocument = {
    kind: 'Sweep',
    title: sweep.title,
    verdict: '',
    axes: sweep.axes.map(axisDocument),
    sample: sampleText(sweep.sample, sweep.sampleSeed),
    seeds,
    runs: runs.length,
    constraints: constraints.map(({ text }) => text),
    best_by: objectives.best.map(({ measure }) => measure.name),
    pareto_by: objectives.pareto.map(({ measure }) => measure.name),
    best: best?.i ?? null,
    pareto,
    points: swept,
    excluded_points: sweep.excluded,
    refused_points: sweep.refused.map(({ reason, values }) => ({ settings: settingsOf(sweep.axes, values), reason })),
    intervals:
      seeds.length > 1
        ? `Values are means over ${seeds.length} seeds with the 95 % confidence interval of the mean`
        : 'Values come from one run each: nothing is known about their spread',
    step_times: [...new Set(runs.map(({ stepTimes }) => stepTimes))],
    notes: [...sweep.notes, ...detectorNotes(swept)],
    command: sweep.command,
  };
  const metrics = metricsOf(runs.map((run) => run.metrics)).filter(({ key }) => {
    return swept.some((point) => (point.metrics[key] ?? null) !== null);
  });
  const main = mainMetric(constraints);
  const result: SweepResult = {
    document,
    curves: ofPoint.map(meanCurves),
    quantiles: QUANTILES,
    ...{ constraints, objectives, axes: sweep.axes, metrics, main },
    headline: headlineOf(metrics, [main.metric.key, ...objectives.best.flatMap(metricKey)]),
    load: loadAxis(sweep.axes, document),
  };
  document.verdict = sweepVerdict(result);
  return result;
}

/** Less is better: what is better the more there is of it counts below 0. */
function valueBy(
  { measure, better }: Objective,
  { metrics, gpus }: SweptPoint,
  settings: Readonly<Record<string, number | string>>,
): number | null {
  const value =
    measure.kind === 'metric' ? metrics[measure.key]?.mean : measure.kind === 'gpus' ? gpus : settings[measure.name];
  const number = value === undefined ? Number.NaN : Number(value);
  return Number.isNaN(number) ? null : better === 'less' ? number : -number;
}

function isLess(a: readonly number[], b: readonly number[]): boolean {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at >= 0 && a[at]! < b[at]!;
}

function valueOver(values: readonly (number | null)[]): SweptValue | null {
  const known = values.filter((value) => value !== null);
  if (known.length < values.length) return null;
  const n = known.length;
  const mean = known.reduce((sum, value) => sum + value, 0) / n;
  if (n < 2) return { mean, low: null, high: null };
  const squares = known.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const half = studentT975(n - 1) * Math.sqrt(squares / (n - 1) / n);
  return { mean, low: Math.max(0, mean - half), high: mean + half };
}

function leastOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/** Empty where some run completed nothing. */
function meanCurves(runs: readonly SweptRun[]): { ttftMs: number[]; e2eMs: number[] } {
  const mean = (curves: readonly (readonly number[])[]) => {
    if (curves.some((curve) => curve.length === 0)) return [];
    return QUANTILES.map((_, q) => curves.reduce((sum, curve) => sum + curve[q]!, 0) / curves.length);
  };
  return { ttftMs: mean(runs.map(({ ttftMs }) => ttftMs)), e2eMs: mean(runs.map(({ e2eMs }) => e2eMs)) };
}

export function pointName(axes: readonly SweepAxis[], values: readonly string[]): string {
  return axes.map(({ name }, i) => `${name}=${values[i]}`).join(', ');
}

function settingsOf(axes: readonly SweepAxis[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(axes.map(({ name }, i) => [name, values[i]!]));
}

function axisDocument({ name, values }: SweepAxis): SweepDocument['axes'][number] {
  if (values.kind === 'list') return { name, values: values.values };
  return { name, values: { from: values.from, to: values.to, scale: values.isLog ? 'log' : 'linear' } };
}

function sampleText(sample: SweepSample, seed: number): string {
  return sample.kind === 'grid' ? 'grid' : `${sample.kind}:${sample.points}, seed ${seed}`;
}

const HEADLINE: readonly MetricKey[] = [
  ...(['ttft_p50_ms', 'ttft_p99_ms', 'itl_mean_ms', 'e2e_p99_ms', 'tokens_per_sec'] as const),
  ...(['goodput_rps', 'slo_attainment', 'fitness'] as const),
];

/** What usually differs, and what was asked about. */
function headlineOf(metrics: readonly Metric[], asked: readonly MetricKey[]): Metric[] {
  return metrics.filter(({ key }) => HEADLINE.includes(key) || asked.includes(key));
}

function metricKey({ measure }: Objective): MetricKey[] {
  return measure.kind === 'metric' ? [measure.key] : [];
}

function mainMetric(constraints: readonly Constraint[]): SweepResult['main'] {
  const { measure } = constrainedMetric(constraints);
  const { key } = measure as { key: MetricKey };
  const bounds = constraints.map(boundOf).filter((one) => one?.measure.kind === 'metric' && one.measure.key === key);
  return { metric: metricOf(key), bound: bounds[0]?.value ?? null };
}
