import type { CalibrationDocument, MetricName, ToleranceName } from '../../observe/calibrate/calibration.js';
import type { Level, MetricComparison } from '../../observe/calibrate/compare-metric.js';
import { counted, decimal, percent, wholeNumber } from '../text/format-number.js';
import { createStyle, type Style, type TextOptions } from '../text/style.js';
import type { Alignment, Cell } from '../text/text-table.js';

/** Labels of the compared metrics. */
export const METRIC_TITLES: Readonly<Record<MetricName, string>> = {
  ttft: 'first token',
  e2e: 'whole request',
  itl: 'between tokens',
};

const SHOWN_LEVELS: readonly Level[] = ['mean', 'p50', 'p90', 'p95', 'p99'];

/** The comparison as text: grades first, then both sides, then notes. */
export function calibrationTable(document: CalibrationDocument, title: string, options: TextOptions): string {
  const style = createStyle(options);
  const { table } = style;
  const goodput = goodputRows(document);
  const verdicts = verdictRows(document);
  const sections = [
    [style.heading(title.replace(/\p{Cc}/gu, '?')), style.faint(calibrationHeadline(document))],
    table(gradeRows(document), ['left', 'right', 'right', 'right', 'left', 'left']),
    table(levelRows(document), ['left', 'left', ...SHOWN_LEVELS.map((): Alignment => 'right')]),
    goodput.length === 0 ? [] : table(goodput, ['left', 'right', 'right', 'right', 'right', 'right']),
    verdicts.length === 0 ? [] : table(marked(verdicts, style), ['left', 'right', 'right', 'left']),
    document.notes.length === 0
      ? []
      : [style.heading('Notes'), ...document.notes.flatMap((note) => style.prose(note, 2))],
  ];
  const text = sections.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'));
  return `${text.join('\n\n')}\n`;
}

/** Verdicts in the colour of better and worse. */
function marked(rows: readonly (readonly string[])[], { better, worse }: Style): Cell[][] {
  const paints: Readonly<Record<string, Style['better']>> = { within: better, missed: worse };
  return rows.map((row) => row.map((text) => (paints[text] === undefined ? text : { text, paint: paints[text] })));
}

/** `198 of 210 requests compared, 10 warm-up, 2 token mismatches`. */
export function calibrationHeadline({ trace_info: info }: CalibrationDocument): string {
  const warmUp = info.warm_up_excluded > 0 ? `, ${wholeNumber(info.warm_up_excluded)} warm-up` : '';
  const of = `${wholeNumber(info.matched_pairs)} of ${counted(info.num_requests, 'request')} compared`;
  return `${of}${warmUp}, ${counted(info.token_mismatches, 'token mismatch').replace(/mismatchs$/, 'mismatches')}`;
}

/** How well single requests are predicted: a row of names, then one for each measure. */
export function gradeRows(document: CalibrationDocument): string[][] {
  const rows = measured(document).map(([name, { count, request_level: level }]) => [
    METRIC_TITLES[name],
    wholeNumber(count),
    level.mape === null ? '-' : percent(level.mape),
    decimal(level.pearson_r, 3),
    level.bias_direction,
    level.quality,
  ]);
  return [['Request by request', 'requests', 'MAPE', 'r', 'bias', 'grade'], ...rows];
}

/** Mean and percentiles of both sides: a row of names, then three for each measure. */
export function levelRows(document: CalibrationDocument): string[][] {
  const rows = measured(document).flatMap(([name, { workload_level: levels }]) => {
    const side = (which: 'real' | 'sim') => SHOWN_LEVELS.map((level) => milliseconds(levels[`${which}_${level}`]));
    return [
      [METRIC_TITLES[name], 'measured', ...side('real')],
      ['', 'predicted', ...side('sim')],
      ['', 'error', ...SHOWN_LEVELS.map((level) => errorText(levels, level))],
    ];
  });
  return [['Latency, ms', '', ...SHOWN_LEVELS], ...rows];
}

/** How many requests keep to their targets; empty when there are none. */
export function goodputRows({ goodput }: CalibrationDocument): string[][] {
  if (goodput === undefined) return [];
  const rows = Object.entries(goodput.per_class).map(([name, own]) => [
    name,
    wholeNumber(own.count),
    percent(own.real_slo_attainment),
    percent(own.sim_slo_attainment),
    decimal(own.real_goodput_rps),
    decimal(own.sim_goodput_rps),
  ]);
  return [['Goodput', 'requests', 'measured good', 'predicted good', 'measured /s', 'predicted /s'], ...rows];
}

/** Every tolerance that was given. */
export function verdictRows({ hit_rate: hits, tolerances, ttft_tolerance: ttft }: CalibrationDocument): string[][] {
  const verdict = (within: boolean) => (within ? 'within' : 'missed');
  const rows = (Object.entries(tolerances) as [ToleranceName, NonNullable<(typeof tolerances)[ToleranceName]>][]).map(
    ([name, { threshold, value, within }]) => [
      toleranceTitle(name),
      value === null ? '-' : percent(value),
      percent(threshold),
      verdict(within),
    ],
  );
  if (ttft !== undefined && tolerances.ttft_mape === undefined) {
    rows.unshift([toleranceTitle('ttft_mape'), percent(ttft.mape), percent(ttft.threshold), verdict(ttft.within)]);
  }
  if (hits !== undefined) {
    const error = `${decimal(hits.abs_error_pp, 1)} points`;
    rows.push([
      `cache hits ${percent(hits.real_hit_rate)} measured, ${percent(hits.sim_hit_rate)} predicted`,
      error,
      `${decimal(hits.tolerance_pp, 1)} points`,
      verdict(hits.within),
    ]);
  }
  return rows.length === 0 ? [] : [['Tolerance', 'error', 'limit', 'verdict'], ...rows];
}

function toleranceTitle(name: ToleranceName): string {
  const [metric, kind] = name.split('_') as [MetricName, 'mape' | 'mean'];
  return `${METRIC_TITLES[metric]}, ${kind === 'mape' ? 'MAPE' : 'error of the mean'}`;
}

function measured({ metrics }: CalibrationDocument): [MetricName, MetricComparison][] {
  return Object.entries(metrics) as [MetricName, MetricComparison][];
}

function milliseconds(us: number): string {
  return decimal(us / 1000);
}

function errorText(levels: MetricComparison['workload_level'], level: Level): string {
  const share = levels[`${level}_percent_error`];
  if (share === null) return '-';
  const text = decimal(share * 100, 1);
  const sign = text === '0.0' ? '' : levels[`${level}_error`] < 0 ? '-' : '+';
  return `${sign}${text} %`;
}
