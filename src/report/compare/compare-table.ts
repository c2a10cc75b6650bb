import type { ComparedVariant, ComparisonDocument } from '../../experiment/comparison/comparison.js';
import type { MetricDifference, Verdict } from '../../experiment/comparison/metric-difference.js';
import type { Metric } from '../../experiment/metrics.js';
import { counted, wholeNumber } from '../text/format-number.js';
import { amount, changeText, unitText } from '../text/metric-text.js';
import { createStyle, type Style, type TextOptions } from '../text/style.js';
import type { Alignment, Cell } from '../text/text-table.js';

/** Larger fleets are shown as the minimum and the maximum. */
const LISTED_INSTANCES = 8;

/** The comparison as text: a table of the main metrics, then a sentence for each difference. */
export function compareTable(document: ComparisonDocument, options: TextOptions): string {
  const style = createStyle(options);
  const { notes } = document.comparison;
  const sections = [
    [
      style.heading(document.comparison.title),
      ...style.prose(document.comparison.verdict),
      style.faint(comparisonHeadline(document)),
      ...notes.flatMap((note) => style.prose(note)),
    ],
    style.table(compareRows(document, marker(style)), alignments(document.comparison.headline)),
    [style.heading('What differs'), ...findingLines(document).flatMap((line) => style.prose(line, 4))],
    [...document.comparison.step_times.map((text) => `Step times: ${text}.`), `${document.comparison.intervals}.`]
      .flatMap((text) => style.prose(text))
      .map(style.faint),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** `5 variants, seeds 42 to 46, 25 runs`. */
export function comparisonHeadline({ comparison: { seeds, runs }, variants }: ComparisonDocument): string {
  const [first, last] = [seeds[0], seeds.at(-1)];
  const seedText = seeds.length === 1 ? `seed ${first}` : `${counted(seeds.length, 'seed')} from ${first} to ${last}`;
  return `${counted(variants.length, 'variant')}, ${seedText}, ${counted(runs, 'run')}`;
}

/**
 * A row of names, then one for each variant: the mean of each metric with its difference, and the requests per
 * replica.
 */
export function compareRows<Marked extends Cell = string>(
  { comparison: { headline }, variants, differences }: ComparisonDocument,
  mark: Mark<Marked> = (text) => text as Marked,
): (string | Marked)[][] {
  const head = headline.flatMap((metric) => [[metric.title, unitText(metric)].filter(Boolean).join(', '), '']);
  const rows = variants.map((variant) => [
    variant.name,
    ...headline.flatMap((metric) => metricCells(metric, variant, differences, mark)),
    targetsText(variant.targets),
  ]);
  return [['Variant', ...head, 'requests per instance'], ...rows];
}

function alignments(headline: readonly Metric[]): Alignment[] {
  return ['left', ...headline.flatMap((): Alignment[] => ['right', 'right']), 'left'];
}

/** Colours the text next to a value. */
type Mark<Marked> = (text: string, verdict: Verdict) => Marked;

function marker({ better, worse }: Style): Mark<Cell> {
  return (text, verdict) => {
    if (verdict.endsWith('better')) return { text, paint: better };
    return verdict.endsWith('worse') ? { text, paint: worse } : text;
  };
}

function metricCells<Marked extends Cell>(
  metric: Metric,
  variant: ComparedVariant,
  differences: readonly MetricDifference[],
  mark: Mark<Marked>,
): (string | Marked)[] {
  const summary = variant.metrics[metric.key] ?? null;
  const difference = differences.find((one) => one.variant === variant.name && one.metric === metric.key);
  return [
    summary === null ? '-' : amount(metric, summary.mean),
    difference === undefined ? '' : mark(verdictText(metric, difference), difference.verdict),
  ];
}

/** The text next to a value: the difference, or that it is not known. */
function verdictText(metric: Metric, difference: MetricDifference): string {
  if (difference.verdict === 'same' || difference.verdict === 'noise') return difference.verdict;
  // Every seed agrees on the direction, and the size is uncertain.
  if (difference.verdict.startsWith('likely')) return difference.higher === 0 ? 'lower' : 'higher';
  return changeText(metric, difference);
}

function targetsText(targets: readonly number[] | null): string {
  if (targets === null) return '';
  if (targets.length <= LISTED_INSTANCES) return targets.map((count) => wholeNumber(count)).join(' ');
  return `${wholeNumber(Math.min(...targets))} to ${wholeNumber(Math.max(...targets))}`;
}

/** Sentences under a line for each variant that has a purpose. */
function findingLines({ variants, findings }: ComparisonDocument): string[] {
  return variants.flatMap(({ name, against, isolates }) => {
    const own = findings.filter((sentence) => sentence.startsWith(`${name}: `));
    return isolates === '' || own.length === 0
      ? own
      : [`${name} against ${against}, ${isolates}:`, ...own.map((one) => `  ${one}`)];
  });
}
