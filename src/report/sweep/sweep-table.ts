import type { Metric } from '../../experiment/metrics.js';
import type { SweepDocument, SweepResult, SweptPoint } from '../../experiment/sweep/sweep-document.js';
import { counted, decimal } from '../text/format-number.js';
import { amount, unitText } from '../text/metric-text.js';
import { createStyle, type TextOptions } from '../text/style.js';
import type { Alignment, Cell } from '../text/text-table.js';

/** Rows of a table on a terminal: of more points the best are listed. */
const MOST_ROWS = 40;

/** The sweep as text: the verdict, then a table of points, then what the reader has to know. */
export function sweepTable({ document, headline: columns }: SweepResult, options: TextOptions): string {
  const style = createStyle(options);
  const { rows, left } = listedPoints(document);
  const head = [...document.axes.map(({ name }) => name), 'GPUs', '', ...columns.map(columnTitle)];
  const cells = rows.map(({ point }): Cell[] => [
    ...document.axes.map(({ name }) => point.settings[name]!),
    String(point.gpus),
    markOf(document, point),
    ...columns.map((column) => valueText(column, point)),
  ]);
  const alignments: Alignment[] = [
    ...document.axes.map((): Alignment => 'left'),
    'right',
    'left',
    ...columns.map((): Alignment => 'right'),
  ];
  const more = left === 0 ? [] : [`${counted(left, 'point')} more in --format csv and json.`];
  const notes = [
    ...document.refused_points.slice(0, 5).map(
      ({ settings, reason }) =>
        `Not simulated: ${Object.entries(settings)
          .map(([k, v]) => `${k}=${v}`)
          .join(', ')}: ${reason}`,
    ),
    ...document.notes,
    ...document.step_times.map((text) => `Step times: ${text}.`),
    `${document.intervals}.`,
  ];
  const sections = [
    [...style.prose(document.verdict).map(style.heading), ...style.prose(sweepHeadline(document)).map(style.faint)],
    [...style.table([head, ...cells], alignments, document.axes.length), ...more],
    notes.flatMap((text) => style.prose(text)).map(style.faint),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** `12 points, 5 seeds from 42 to 46, 60 runs; 4 points excluded by constraints over settings`. */
export function sweepHeadline({ excluded_points, points, refused_points, runs, sample, seeds }: SweepDocument): string {
  const [first, last] = [seeds[0], seeds.at(-1)];
  const seedText = seeds.length === 1 ? `seed ${first}` : `${counted(seeds.length, 'seed')} from ${first} to ${last}`;
  const excluded =
    excluded_points === 0 ? '' : `; ${counted(excluded_points, 'point')} excluded by constraints over settings`;
  const refused = refused_points.length === 0 ? '' : `; ${counted(refused_points.length, 'point')} cannot be simulated`;
  const how = sample === 'grid' ? '' : `, ${sample}`;
  return `${counted(points.length, 'point')}${how}, ${seedText}, ${counted(runs, 'run')}${excluded}${refused}`;
}

/** All points in their order; of many the front and those that meet the constraints first. */
function listedPoints({ points }: SweepDocument): { rows: { point: SweptPoint }[]; left: number } {
  const all = points.map((point) => ({ point }));
  if (all.length <= MOST_ROWS) return { rows: all, left: 0 };
  const order = (point: SweptPoint) => (point.pareto ? 0 : point.feasible ? 1 : 2);
  const rows = [...all].sort((a, b) => order(a.point) - order(b.point)).slice(0, MOST_ROWS);
  return { rows, left: all.length - rows.length };
}

/** What a point is, in a word or two. */
export function markOf({ best, points, seeds }: SweepDocument, point: SweptPoint): string {
  const met = Math.min(...Object.values(point.constraints));
  const marks = [
    ...(best !== null && points[best] === point ? ['best'] : []),
    ...(point.pareto ? ['Pareto'] : []),
    ...(point.saturated_runs === 0 ? [] : [saturatedText(point)]),
    ...(point.saturated_runs === 0 && point.too_short_runs > 0 ? ['too short'] : []),
    ...(point.feasible || point.saturated_runs > 0
      ? []
      : [met === 0 ? 'breaks a constraint' : `holds with ${met} of ${seeds.length} seeds`]),
  ];
  return marks.join(', ');
}

function saturatedText({ kept_rps }: SweptPoint): string {
  return kept_rps === null ? 'saturated' : `saturated, serves ${decimal(kept_rps, 1)}/s`;
}

/** `TTFT p99, ms`. */
export function columnTitle(metric: Metric): string {
  return [metric.title, unitText(metric)].filter(Boolean).join(', ');
}

function valueText(metric: Metric, { metrics }: SweptPoint): string {
  const value = metrics[metric.key] ?? null;
  return value === null ? '-' : amount(metric, value.mean);
}
