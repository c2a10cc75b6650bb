import type { UsageDimension, UsageSum } from './usage-record.js';

/** A sum as people and programs are shown it: what it was asked for by, then the counts. */
export type UsageView = Record<string, string | number>;

/** The counts and what they are called in answers and files; money is dollars. */
const COUNTS = {
  requests: 'requests',
  input_tokens: 'inputTokens',
  cached_tokens: 'cachedTokens',
  output_tokens: 'outputTokens',
  reasoning_tokens: 'reasoningTokens',
  estimated_requests: 'estimatedRequests',
} as const;

export const USAGE_COLUMNS: readonly string[] = [...Object.keys(COUNTS), 'dollars'];

export function usageView(sum: UsageSum, by: readonly UsageDimension[]): UsageView {
  const view: UsageView = {};
  for (const dimension of by) view[dimension] = sum[dimension]!;
  for (const [column, count] of Object.entries(COUNTS)) view[column] = sum[count];
  view.dollars = sum.costNanos / 1e9;
  return view;
}

/** A table that spreadsheets read, its first line the names of the columns. */
export function usageCsv(views: readonly UsageView[], by: readonly UsageDimension[]): string {
  const columns = [...by, ...USAGE_COLUMNS];
  return [columns, ...views.map((view) => columns.map((column) => view[column]!))].map(csvLine).join('');
}

function csvLine(values: readonly (string | number)[]): string {
  return `${values.map(csvValue).join(',')}\r\n`;
}

/** Quoted where it must be. A name that a spreadsheet would take for a formula begins with an apostrophe. */
function csvValue(value: string | number): string {
  if (typeof value === 'number') return plainNumber(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Without an exponent, which 1.5e-8 dollars would have: no smaller part than a nano-dollar exists. */
function plainNumber(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(9).replace(/0+$/, '');
}
