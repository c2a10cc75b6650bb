import type { ClusterConfig } from '../../simulator/cluster-config.js';
import { type Experiment, type ExperimentAxis, runIndex, type Variant } from '../experiment.js';
import { METRICS, type Metric, type MetricKey, type MetricValues, metricOf, metricsOf } from '../metrics.js';
import type { WorkloadRecipe } from '../recipes/workload-recipe.js';
import { QUANTILES } from '../runs/course/latency-quantiles.js';
import type { LoadOverTime } from '../runs/course/load-over-time.js';
import type { RunSummary, TargetCounts } from '../runs/run-summary.js';
import { type ComparedSlo, comparisonVerdict, sharedSlo } from './comparison-verdict.js';
import { differencesOf, type MetricDifference } from './metric-difference.js';
import { sentenceOf } from './sentences.js';
import { saturationNotes, type VariantSaturation, variantSaturation } from './variant-saturation.js';

/** A measure of a variant over all seeds; null where no run measured it. */
export interface MetricSummary {
  mean: number;
  min: number;
  max: number;
  by_seed: number[];
}

export interface ComparedVariant {
  name: string;
  against: string | null;
  isolates: string;
  series: string;
  x: number | null;
  metrics: Readonly<Record<MetricKey, MetricSummary | null>>;
  /** Requests of each replica, the mean over seeds; null for a fleet too large to list. */
  targets: number[] | null;
  saturation: VariantSaturation;
  config: Omit<ClusterConfig, 'seed'> & { workload: WorkloadRecipe };
}

/** What `twinyard compare` prints. */
export interface ComparisonDocument {
  comparison: {
    title: string;
    /** The finding in one sentence. */
    verdict: string;
    /** The limit that all requests share, where one was given. */
    slo: ComparedSlo | null;
    seeds: readonly number[];
    runs: number;
    /** How intervals are computed. */
    intervals: string;
    /** Where step times come from, and how far to believe them: a sentence for each kind of run. */
    step_times: string[];
    axis: ExperimentAxis | null;
    /** The measures of the table. */
    headline: readonly Metric[];
    notes: readonly string[];
  };
  variants: ComparedVariant[];
  differences: MetricDifference[];
  /** The differences of the headline measures, a sentence each. */
  findings: string[];
}

/** Further data for plots, by variant. */
export interface VariantCurves {
  /** Milliseconds at `QUANTILES`, the mean over seeds. */
  ttftMs: number[];
  e2eMs: number[];
  /** Of the first seed: a mean over seeds would smooth the peaks away. */
  load: LoadOverTime;
  targets: TargetCounts;
}

export interface Comparison {
  document: ComparisonDocument;
  /** In the order of the document's variants. */
  curves: VariantCurves[];
  /** Per cent of requests of each entry of a latency curve. */
  quantiles: readonly number[];
  /** Every measure there is. */
  metrics: readonly Metric[];
}

const INTERVALS =
  "95 % confidence intervals by Student's t over pairs of runs with the same seed: of the mean ratio of latencies, and of the mean difference of other measures";
const NO_INTERVALS = 'one run of each variant: nothing is known about noise, and there are no confidence intervals';

/** Sums up the runs of an experiment, in the order of `runsOf`. */
export function compareRuns(experiment: Experiment, runs: readonly RunSummary[]): Comparison {
  const { variants, seeds } = experiment;
  const runsOfVariant = (i: number) => seeds.map((_, s) => runs[runIndex(experiment, i, s)]!);
  const metrics = metricsOf(runs.map((run) => run.metrics));
  const compared = variants.map((variant, i) => comparedVariant(variant, metrics, runsOfVariant(i)));
  const headline = experiment.headline ?? usualHeadline(compared, metrics);
  const differences = differencesOf(compared, metrics);
  const slo = sharedSlo(compared);
  const { axis } = experiment;
  const document: ComparisonDocument = {
    comparison: {
      title: experiment.title,
      verdict: comparisonVerdict({ variants: compared, differences, axis, slo, leading: metricOf(headline[0]!) }),
      slo,
      seeds,
      runs: runs.length,
      intervals: seeds.length === 1 ? NO_INTERVALS : INTERVALS,
      step_times: [...new Set(runs.map(({ stepTimes }) => stepTimes))],
      axis,
      headline: withCentre(headline).map(metricOf),
      notes: [...saturationNotes(compared), ...experiment.notes, ...lossNotes(compared)],
    },
    variants: compared,
    differences,
    findings: compared.flatMap((variant) => findingsOf(variant, compared, differences, headline)),
  };
  return {
    document,
    curves: variants.map((_, i) => curvesOf(runsOfVariant(i))),
    quantiles: QUANTILES,
    metrics,
  };
}

/**
 * Latencies are those of completed requests: a policy that loses requests looks better than it is. Rejections are a
 * separate metric.
 */
function lossNotes(variants: readonly ComparedVariant[]): string[] {
  return variants.flatMap(({ name, metrics }) => {
    const lost = 1 - (metrics.completed_share?.mean ?? 1) - (metrics.rejected_share?.mean ?? 0);
    if (lost < 1e-9) return [];
    return `${name}: ${(lost * 100).toFixed(1)} % of all requests were dropped, timed out or not done; latencies are those of the others`;
  });
}

function comparedVariant(
  { name, against, isolates, series, x, config, workload }: Variant,
  measured: readonly Metric[],
  runs: readonly RunSummary[],
): ComparedVariant {
  const { seed: _, ...shared } = config;
  const entries = measured.map(({ key }): [MetricKey, MetricSummary | null] => [
    key,
    metricSummary(
      runs.map(({ metrics }) => metrics),
      key,
    ),
  ]);
  const lists = runs.map(({ targets }) => targets.byInstance);
  return {
    name,
    against,
    isolates,
    series,
    x,
    metrics: Object.fromEntries(entries) as ComparedVariant['metrics'],
    targets: lists.includes(null) ? null : meanOfLists(lists as number[][]),
    saturation: variantSaturation(runs.map(({ saturation }) => saturation)),
    config: { ...shared, workload },
  };
}

function metricSummary(runs: readonly MetricValues[], key: MetricKey): MetricSummary | null {
  const values = runs.map((metrics) => metrics[key] ?? null).filter((value) => value !== null);
  if (values.length < runs.length) return null;
  return { mean: mean(values), min: Math.min(...values), max: Math.max(...values), by_seed: values };
}

/** A sentence for each difference; one for all when there is none. */
function findingsOf(
  variant: ComparedVariant,
  variants: readonly ComparedVariant[],
  differences: readonly MetricDifference[],
  headline: readonly MetricKey[],
): string[] {
  const { name, against } = variant;
  const reference = variants.find((other) => other.name === against);
  if (reference === undefined) return [];
  const sentences = headline.flatMap((key) => {
    const difference = differences.find((one) => one.variant === name && one.metric === key);
    if (difference !== undefined) return difference.verdict === 'same' ? [] : sentenceOf(difference);
    const lacking = [variant, reference].filter(({ metrics }) => (metrics[key] ?? null) === null);
    return lacking.length === 1 ? `${name}: ${lacking[0]!.name} has no ${metricOf(key).title} with some seed.` : [];
  });
  return sentences.length > 0 ? sentences : [`${name}: the same as ${against} in every run.`];
}

/** The tail, the throughput, and what only some experiments have: SLO classes, cached prompts, refusals, targets. */
function usualHeadline(variants: readonly ComparedVariant[], metrics: readonly Metric[]): MetricKey[] {
  const any = (key: MetricKey) => variants.some(({ metrics }) => (metrics[key]?.max ?? 0) > 0);
  const some = (['prompt_cache_hit_rate', 'rejected_share', 'goodput_rps', 'fitness'] as const).filter(any);
  const classes = metrics.slice(METRICS.length).map(({ key }) => key);
  return ['ttft_p99_ms', ...classes, 'tokens_per_sec', ...some];
}

/** A tail alone hides what most requests get: the median and the mean stand before it. */
function withCentre(headline: readonly MetricKey[]): MetricKey[] {
  const centre = (['ttft_p50_ms', 'ttft_mean_ms'] as const).filter((key) => !headline.includes(key));
  return headline.flatMap((key) => (key === 'ttft_p99_ms' ? [...centre, key] : key));
}

function curvesOf(runs: readonly RunSummary[]): VariantCurves {
  const measured = (lists: readonly number[][]) => meanOfLists(lists.filter((list) => list.length > 0));
  return {
    ttftMs: measured(runs.map(({ ttftMs }) => ttftMs)),
    e2eMs: measured(runs.map(({ e2eMs }) => e2eMs)),
    load: runs[0]!.load,
    targets: runs[0]!.targets,
  };
}

/** Entry by entry; all lists are equally long. */
function meanOfLists(lists: readonly (readonly number[])[]): number[] {
  return (lists[0] ?? []).map((_, i) => mean(lists.map((list) => list[i]!)));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
