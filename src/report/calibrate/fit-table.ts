import type { FitReport, Interval, RequestErrors } from '../../observe/fit/fit-report.js';
import { counted, decimal, percent, wholeNumber } from '../text/format-number.js';
import { createStyle, type TextOptions } from '../text/style.js';

/** The report of a fit: how the profile was fitted, and the errors of the same requests before. */
export interface FitDocument {
  profile: string;
  model: string;
  hardware: string;
  tp: number;
  /** By trace; null where unknown. */
  before: (RequestErrors | null)[];
  report: FitReport;
}

/** The fit as a table: its data, its confidence, and how well it predicts held-out data. */
export function fitTable(document: FitDocument, options: TextOptions): string {
  const style = createStyle(options);
  const table = (rows: readonly (readonly string[])[], names = 1) =>
    style.table(
      rows,
      rows[0]!.map((_, i) => (i < names ? 'left' : 'right')),
    );
  const { hardware, model, profile, report, tp } = document;
  const sections = [
    [style.heading(`${profile}: ${model} on ${hardware}, tp ${tp}`)],
    table([['Data', 'used', 'held out'], ...report.data.map(dataRow)]),
    table([['Coefficient', 'value', '95 % from', 'to'], ...report.parameters.map(intervalRow)]),
    report.steps === undefined ? [] : table(stepRows(report.steps)),
    report.requests === undefined ? [] : table(requestRows(document), 2),
    report.tried === undefined ? [] : table(triedRows(report.tried)),
    report.notes.length === 0 ? [] : [style.heading('Notes'), ...report.notes.flatMap((note) => style.prose(note, 2))],
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function dataRow({ heldOut, kind, name, used }: FitReport['data'][number]): string[] {
  const noun = kind === 'steps' ? 'step' : 'request';
  return [name, counted(used, noun), wholeNumber(heldOut)];
}

function intervalRow({ high, low, name, value }: Interval): string[] {
  if (low === null || high === null) return [name, significant(value), 'not identified', ''];
  return [name, significant(value), significant(low), significant(high)];
}

function stepRows({ fitted, heldOut }: NonNullable<FitReport['steps']>): string[][] {
  const rows = [['fitted', fitted] as const, ...(heldOut === null ? [] : [['held out', heldOut] as const])].map(
    ([name, { medianAbs, p90Abs, steps, total }]) => [
      name,
      wholeNumber(steps),
      percent(medianAbs),
      percent(p90Abs),
      signed(total),
    ],
  );
  return [['Error of steps', 'steps', 'median', 'p90', 'all together'], ...rows];
}

/** Errors of means on what the fit has not seen, without the profile and with it; then on all that was fitted. */
function requestRows({ before, report }: FitDocument): string[][] {
  const row = (name: string, what: string, errors: RequestErrors | null) =>
    errors === null
      ? []
      : [[name, what, wholeNumber(errors.requests), signed(errors.ttft), signed(errors.itl), signed(errors.e2e)]];
  const rows = report.requests!.flatMap(({ fitted, heldOut, name }, i) => [
    ...row(name, 'held out, before', before[i] ?? null),
    ...row(name, 'held out, after', heldOut),
    ...row(name, 'all, after', fitted),
  ]);
  return [['Error of means', '', 'requests', 'first token', 'between tokens', 'whole request'], ...rows];
}

function triedRows(tried: NonNullable<FitReport['tried']>): string[][] {
  const rows = tried.map(({ loss, settings }) => [
    Object.entries(settings)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
    significant(loss),
  ]);
  return [['Settings tried', 'unexplained'], ...rows];
}

function significant(value: number): string {
  const size = Math.abs(value);
  return size >= 1000 ? decimal(value, 0) : String(Number(value.toPrecision(4)));
}

function signed(share: number): string {
  const text = decimal(Math.abs(share) * 100, 1);
  return `${text === '0.0' ? '' : share < 0 ? '-' : '+'}${text} %`;
}
