import { isSorted } from '../../arrival-order.js';
import { requestEmpty, traceEmpty } from '../../errors.js';
import type { RequestTable } from '../../request-table.js';
import type { Trace } from '../../trace.js';
import type { TraceRecord } from './trace-record.js';

/** A trace of a format without a header: the table holds everything. */
export function plainTrace(format: string, path: string, table: RequestTable, place: Trace['place']): Trace {
  if (table.count === 0) throw traceEmpty(path);
  return {
    format,
    header: { mode: '', sessionContextGrowth: '', goodputTargets: {}, place: (key) => `${path} (${key})` },
    table,
    wantedUs: table.arrivalUs,
    thinkTimeUs: null,
    unsorted: !isSorted(table),
    place,
  };
}

/** Sets the lengths of a row from `input_length` and `output_length`. */
export function setTokens(table: RequestTable, row: number, record: TraceRecord): void {
  const input = record.count('input_length');
  const output = record.count('output_length');
  if (input === 0 && output === 0) throw requestEmpty(record.place('input_length'));
  table.inputTokens[row] = input;
  table.outputTokens[row] = output;
}
