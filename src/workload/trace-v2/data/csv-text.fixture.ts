import { expect } from 'vitest';
import type { InputError } from '../../../kernel/errors.js';
import { BASE_COLUMNS } from './layout.js';
import { readTraceData } from './read-data.js';

const PLAIN: Record<string, string> = {
  ...Object.fromEntries(BASE_COLUMNS.map((name) => [name, '0'])),
  client_id: '',
  tenant_id: '',
  slo_class: '',
  session_id: '',
  prefix_group: '',
  streaming: 'false',
  input_tokens: '100',
  output_tokens: '10',
  model: '',
  arrival_time_us: '1000',
  status: 'ok',
  error_message: '',
  finish_reason: '',
};

export type Row = Partial<Record<string, string>>;

/** A trace of these rows, with plain values for absent fields. */
export function csv(rows: Row[], columns: readonly string[] = BASE_COLUMNS): string {
  const lines = rows.map((row, i) =>
    columns.map((name) => row[name] ?? (name === 'request_id' ? `${i}` : (PLAIN[name] ?? ''))).join(','),
  );
  return `${[columns.join(','), ...lines].join('\n')}\n`;
}

export const read = (text: string, relativeDeadlines = false) =>
  readTraceData(Buffer.from(text), 't.csv', relativeDeadlines);

export function failure(text: string, relativeDeadlines = false): InputError {
  try {
    read(text, relativeDeadlines);
  } catch (error) {
    return error as InputError;
  }
  expect.unreachable('the trace was accepted');
}
