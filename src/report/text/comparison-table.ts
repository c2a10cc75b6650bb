import { decimal, percent, wholeNumber } from './format-number.js';
import { createStyle, type TextOptions } from './style.js';

/** A statistic, expected and actual. */
export interface ComparisonRow {
  name: string;
  kind: 'count' | 'seconds' | 'rate' | 'tokens' | 'share';
  expected: number;
  found: number;
  /** Of `found` from `expected`, as a share of it. */
  difference: number;
  /** The difference in other tries: its mean and standard deviation. */
  tries?: { mean: number; deviation: number };
  /** At the end of the line. */
  remark?: string;
  /** Below the table. */
  note?: string;
  /** Outside the tolerance. */
  isOutside?: boolean;
}

const FORMATS: Readonly<Record<ComparisonRow['kind'], (value: number) => string>> = {
  count: wholeNumber,
  seconds: (value) => `${decimal(value, 0)} s`,
  rate: (value) => `${decimal(value, 3)} /s`,
  tokens: (value) => decimal(value, 1),
  share: percent,
};

/**
 * Rows side by side. `columns` name what is compared, in the order expected, found and, if there were any, other tries.
 */
export function comparisonTable(
  columns: readonly string[],
  rows: readonly ComparisonRow[],
  options: TextOptions,
): string {
  const style = createStyle(options);
  const [expected, found, tries] = columns;
  const cells = rows.map((row) => [
    row.name,
    FORMATS[row.kind](row.expected),
    FORMATS[row.kind](row.found),
    signed(row.difference),
    ...(tries === undefined ? [] : [triesText(row)]),
    row.isOutside ? { text: row.remark ?? '', paint: style.worse } : (row.remark ?? ''),
  ]);
  const names = ['', expected!, found!, 'difference', ...(tries === undefined ? [] : [tries]), ''];
  const alignments = names.map((_, i) => (i === 0 || i === names.length - 1 ? ('left' as const) : ('right' as const)));
  const notes = rows.flatMap(({ name, note }) => (note === undefined ? [] : style.prose(`${name}: ${note}`, 2)));
  return `${[...style.table([names, ...cells], alignments), ...notes].join('\n')}\n`;
}

function triesText({ tries }: ComparisonRow): string {
  return tries === undefined ? '' : `${signed(tries.mean)} ± ${percent(tries.deviation)}`;
}

function signed(share: number): string {
  const text = decimal(Math.abs(share) * 100, 1);
  return `${text === '0.0' ? '' : share < 0 ? '-' : '+'}${text} %`;
}
