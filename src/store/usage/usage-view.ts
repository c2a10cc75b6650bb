import type { UsageDimension, UsageSum } from './usage-record.js';

/** A total as the API and the command line return it: dimensions, then counts. */
export type UsageView = Record<string, string | number>;

/** The counts and their names in responses and files; money is in dollars. */
const COUNTS = {
  requests: 'requests',
  input_tokens: 'inputTokens',
  cached_tokens: 'cachedTokens',
  output_tokens: 'outputTokens',
  reasoning_tokens: 'reasoningTokens',
  characters: 'characters',
  audio_seconds: 'audioSeconds',
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

/** A CSV whose first line names the columns. */
export function usageCsv(views: readonly UsageView[], by: readonly UsageDimension[]): string {
  const columns = [...by, ...USAGE_COLUMNS];
  return [columns, ...views.map((view) => columns.map((column) => view[column]!))].map(csvLine).join('');
}

function csvLine(values: readonly (string | number)[]): string {
  return `${values.map(csvValue).join(',')}\r\n`;
}

/** Quoted where necessary. A name that a spreadsheet would evaluate as a formula gets an apostrophe in front. */
function csvValue(value: string | number): string {
  if (typeof value === 'number') return plainNumber(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Without an exponent, which 1.5e-8 dollars would have: no smaller part than a nano-dollar exists. */
function plainNumber(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(9).replace(/0+$/, '');
}
