import { amountWithUnit, changeText } from '../../report/text/metric-text.js';
import { EVERY_CLASS, type GoodputTarget } from '../../simulator/cluster-config.js';
import type { ExperimentAxis } from '../experiment.js';
import { type Metric, type MetricKey, metricOf } from '../metrics.js';
import type { ComparedVariant } from './comparison.js';
import type { MetricDifference } from './metric-difference.js';

/** A limit of a measure that variants are held to. */
export interface ComparedSlo {
  metric: MetricKey;
  /** In the unit of the measure. */
  limit: number;
}

/** The target that all requests share, as the limit of a tail; null where classes differ, or there is none. */
export function sharedSlo(variants: readonly ComparedVariant[]): ComparedSlo | null {
  const targets = variants[0]!.config.goodputTargets;
  const all = Object.values(targets);
  if (targets[EVERY_CLASS] === undefined && Object.keys(targets).join() !== 'default') return null;
  const shared = (key: keyof GoodputTarget) => {
    const [first, ...others] = new Set(all.map((target) => target[key]));
    return first === undefined || others.length > 0 ? null : first / 1000;
  };
  const limits: [MetricKey, number | null][] = [
    ['ttft_p99_ms', shared('ttftUs')],
    ['e2e_p99_ms', shared('e2eUs')],
    ['itl_mean_ms', shared('itlUs')],
  ];
  const [metric, limit] = limits.find(([, ms]) => ms !== null) ?? [];
  return metric === undefined ? null : { metric, limit: limit! };
}

interface Compared {
  variants: readonly ComparedVariant[];
  differences: readonly MetricDifference[];
  axis: ExperimentAxis | null;
  slo: ComparedSlo | null;
  /** The measure that decides without an SLO. */
  leading: Metric;
}

/** The finding in one sentence: what keeps the SLO, or up to which load, or which variant is best. */
export function comparisonVerdict(compared: Compared): string {
  const { axis, slo } = compared;
  if (axis !== null) return alongAxis(compared, axis);
  return slo === null ? bestVariant(compared) : `${sloText(slo)} is kept by ${listed(kept(compared))}.`;
}

function sloText({ metric, limit }: ComparedSlo): string {
  return `${metricOf(metric).title} within ${amountWithUnit(metricOf(metric), limit)}`;
}

function keeps({ metrics, saturation }: ComparedVariant, slo: ComparedSlo | null): boolean {
  if (saturation.state === 'saturated' || saturation.state === 'too-short') return false;
  if (slo === null) return true;
  const summary = metrics[slo.metric] ?? null;
  return summary !== null && summary.mean <= slo.limit;
}

function kept({ variants, slo }: Compared): string[] {
  return variants.filter((variant) => keeps(variant, slo)).map(({ name }) => name);
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'no variant' : names.join(', ');
}

/** Series with the same answer share a part of the sentence. */
function alongAxis(compared: Compared, axis: ExperimentAxis): string {
  const { variants, slo } = compared;
  const trend = slo === null ? trendText(compared, axis) : null;
  if (trend !== null) return trend;
  const answers = new Map<string, string[]>();
  for (const series of new Set(variants.map((variant) => variant.series))) {
    const own = variants.filter((variant) => variant.series === series).sort((a, b) => a.x! - b.x!);
    const where = range(own, slo, axis);
    answers.set(where, [...(answers.get(where) ?? []), series]);
  }
  const one = new Set(variants.map((variant) => variant.series)).size === 1;
  const parts = [...answers].map(([where, series]) => (one ? where : `${series.join(' and ')} ${where}`));
  return `${slo === null ? 'The fleet keeps up with what arrives' : `${sloText(slo)} is kept`}: ${parts.join('; ')}.`;
}

/** How the leading measure changes from one end of the axis to the other; null where steps are not compared with each other. */
function trendText({ variants, differences, leading }: Compared, axis: ExperimentAxis): string | null {
  const steps = variants.map(({ x }) => x!);
  const [first, last] = [Math.min(...steps), Math.max(...steps)];
  const parts = variants.flatMap(({ name, series, x, against }) => {
    const reference = variants.find((other) => other.name === against);
    const difference = differences.find((one) => one.variant === name && one.metric === leading.key);
    if (x !== last || reference?.series !== series || reference.x !== first || difference === undefined) return [];
    return `${series} ${changeInWords(leading, difference)}`;
  });
  if (parts.length === 0) return null;
  return `${leading.title} at ${stepText(last, axis)} against ${stepText(first, axis)}: ${parts.join('; ')}.`;
}

function changeInWords(metric: Metric, difference: MetricDifference): string {
  const { verdict } = difference;
  if (verdict === 'same' || verdict === 'noise') return verdict === 'same' ? 'the same' : 'within the noise';
  if (!verdict.startsWith('likely')) return changeText(metric, difference);
  return `${difference.higher === 0 ? 'lower' : 'higher'} with every seed, size uncertain`;
}

function stepText(x: number, { title, unit }: ExperimentAxis): string {
  return unit === '' ? `${title} ${x}` : `${x} ${unit}`;
}

/** Where along the axis a series keeps what is asked. */
function range(series: readonly ComparedVariant[], slo: ComparedSlo | null, axis: ExperimentAxis): string {
  const at = series.map((variant) => keeps(variant, slo));
  const text = (i: number) => stepText(series[i]!.x!, axis);
  const count = at.filter(Boolean).length;
  // What exceeds the limit in a short run exceeds it in a long one.
  const isUnknown = ({ saturation, metrics }: ComparedVariant) =>
    saturation.state === 'too-short' && (slo === null || (metrics[slo.metric]?.mean ?? 0) <= slo.limit);
  const unknown = series.findIndex(isUnknown);
  if (unknown >= 0) {
    const first = at.indexOf(false);
    const known = first === 0 ? '' : `${first === 1 ? `at ${text(0)}` : `up to ${text(first - 1)}`}, `;
    return `${known}too short to tell at ${text(unknown)}`;
  }
  if (count === 0)
    return series.length === 1 ? `not at ${text(0)}` : `at none from ${text(0)} to ${text(at.length - 1)}`;
  if (count === at.length) return `at all tried, to ${text(at.length - 1)}`;
  if (at.lastIndexOf(true) === count - 1) return `up to ${text(count - 1)}`;
  if (at.indexOf(true) === at.length - count) return `from ${text(at.length - count)}`;
  return `at ${series.flatMap((_, i) => (at[i] ? text(i) : [])).join(', ')}`;
}

/** The variant with the best value of the leading measure, and whether that is more than noise. */
function bestVariant({ variants, differences, leading }: Compared): string {
  const { key, better, title } = leading;
  const measured = variants.filter(({ metrics }) => (metrics[key] ?? null) !== null);
  const references = new Set(variants.flatMap(({ against }) => against ?? []));
  if (measured.length === 0 || references.size !== 1) return `${variants.length} variants compared.`;
  const [reference] = references;
  const value = ({ metrics }: ComparedVariant) => metrics[key]!.mean * (better === 'less' ? 1 : -1);
  const sorted = [...measured].sort((a, b) => value(a) - value(b));
  const differenceOf = (name: string) => differences.find((one) => one.variant === name && one.metric === key);
  const best = sorted[0]!;
  const isOnce = best.metrics[key]!.by_seed.length === 1;
  if (isOnce && best.name === reference) {
    return `${reference} has the best ${title}: ${amountWithUnit(leading, best.metrics[key]!.mean)}, in one run.`;
  }
  const proven = sorted.find(({ name }) => /better|once/.test(differenceOf(name)?.verdict ?? ''));
  const behind = sorted.filter(({ name }) => differenceOf(name)?.verdict.endsWith('worse'));
  const worse =
    behind.length === 0
      ? ''
      : `; ${behind.map(({ name }) => name).join(', ')} ${behind.length === 1 ? 'is' : 'are'} worse`;
  if (proven === undefined) return `No variant is better than ${reference} in ${title} beyond noise${worse}.`;
  const difference = differenceOf(proven.name)!;
  const size =
    difference.verdict === 'likely-better' ? 'better with every seed, size uncertain' : changeText(leading, difference);
  const once = isOnce ? ', in one run' : '';
  return `${proven.name} has the best ${title}: ${amountWithUnit(leading, difference.mean)}, against ${amountWithUnit(leading, difference.reference)} with ${reference} (${size}${once})${worse}.`;
}
