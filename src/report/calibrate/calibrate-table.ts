import type { CalibrationDocument, MetricName, ToleranceName } from '../../observe/calibrate/calibration.js';
import type { GradedMetric, Level, MetricComparison } from '../../observe/calibrate/compare/compare-metric.js';
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
  const failures = failureRows(document);
  const goodput = goodputRows(document);
  const verdicts = verdictRows(document);
  const sections = [
    [style.heading(title.replace(/\p{Cc}/gu, '?')), style.faint(calibrationHeadline(document))],
    table(errorRows(document), ['left', 'right', 'right', 'right', 'right', 'left']),
    table(requestRows(document), ['left', 'right', 'right', 'right', 'left']),
    table(levelRows(document), ['left', 'left', ...SHOWN_LEVELS.map((): Alignment => 'right')]),
    failures.length === 0 ? [] : table(failures, ['left', 'right', 'right']),
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

/**
 * Errors of the mean, the median, the 90th percentile and the median request, with 95 % intervals and what a repeat of the run
 * differs, and the grade that follows: a row of names, then up to four for each measure.
 */
export function errorRows(document: CalibrationDocument): string[][] {
  const rows = measured(document).flatMap(([name, { against_repeat: against, interval }]) => {
    const { error, grade, repeat } = against;
    const figures = ['mean', 'median', 'p90'] as const;
    const bound = (which: 0 | 1) => figures.map((figure) => signedPercent(interval![figure].error[which]));
    return [
      [METRIC_TITLES[name], ...figures.map((f) => signedPercent(error[f])), sharePercent(error.request), grade],
      ...(interval === undefined
        ? []
        : [
            ['  95 % from', ...bound(0), '', ''],
            ['  to', ...bound(1), '', ''],
          ]),
      ['  a repeat', ...figures.map((f) => percent(repeat[f])), percent(repeat.request), ''],
    ];
  });
  return [['Error of', 'mean', 'median', 'p90', 'one request', 'grade'], ...rows];
}

/** Requests without a complete response on either side; empty when there are none. */
export function failureRows({ failures }: CalibrationDocument): string[][] {
  const { real, sim } = failures;
  if (real.failed + sim.failed === 0) return [];
  const row = (title: string, key: 'timed_out' | 'other') => [title, wholeNumber(real[key]), wholeNumber(sim[key])];
  return [
    ['Failed requests', 'measured', 'predicted'],
    row('timed out', 'timed_out'),
    row('refused or broken off', 'other'),
    [`share of ${wholeNumber(failures.requests)}`, percent(real.share), percent(sim.share)],
  ];
}

/** How well single requests are predicted: a row of names, then one for each measure. */
export function requestRows(document: CalibrationDocument): string[][] {
  const rows = measured(document).map(([name, { count, request_level: level }]) => [
    METRIC_TITLES[name],
    wholeNumber(count),
    level.mape === null ? '-' : percent(level.mape),
    decimal(level.pearson_r, 3),
    level.bias_direction,
  ]);
  return [['Request by request', 'requests', 'MAPE', 'r', 'bias'], ...rows];
}

/** Mean and percentiles of both sides, with the prediction's 95 % interval: a row of names, then up to five for each measure. */
export function levelRows(document: CalibrationDocument): string[][] {
  const rows = measured(document).flatMap(([name, { interval, workload_level: levels }]) => {
    const bound = (which: 0 | 1) =>
      SHOWN_LEVELS.map((level) => {
        const figure = level === 'p50' ? 'median' : level;
        return figure === 'mean' || figure === 'median' || figure === 'p90'
          ? milliseconds(interval![figure].sim[which])
          : '';
      });
    const side = (which: 'real' | 'sim') => SHOWN_LEVELS.map((level) => milliseconds(levels[`${which}_${level}`]));
    return [
      [METRIC_TITLES[name], 'measured', ...side('real')],
      ['', 'predicted', ...side('sim')],
      ...(interval === undefined
        ? []
        : [
            ['', '95 % from', ...bound(0)],
            ['', 'to', ...bound(1)],
          ]),
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

function measured({ metrics }: CalibrationDocument): [MetricName, GradedMetric][] {
  return Object.entries(metrics) as [MetricName, GradedMetric][];
}

function sharePercent(share: number | null): string {
  return share === null ? '-' : percent(share);
}

function signedPercent(share: number | null): string {
  if (share === null) return '-';
  const text = decimal(Math.abs(share) * 100, 1);
  return `${text === '0.0' ? '' : share < 0 ? '-' : '+'}${text} %`;
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
