import { isSorted } from '../arrival-order.js';
import { duplicateId, fieldInvalid, traceEmpty } from '../errors.js';
import { RequestTable } from '../request-table.js';
import { readColumns } from './columns.js';
import { CsvRows } from './csv-rows.js';
import { MAX_COUNT, RecordReader } from './record-reader.js';
import type { TraceV2 } from './trace.js';

/** No row is shorter: 26 commas, 17 numbers of a digit, `true` and a line end. Memory that is not used is never touched. */
const SHORTEST_ROW = 48;

/** The records of a trace as requests. `relativeDeadlines`: deadlines count from the arrival, as observed traces write them. */
export function readTraceData(bytes: Buffer, file: string, relativeDeadlines: boolean): Omit<TraceV2, 'header'> {
  const rows = new CsvRows(bytes, file);
  if (!rows.next()) throw traceEmpty(file);
  const columns = readColumns(rows);
  rows.expect(columns.names, columns.required);

  const table = new RequestTable(Math.ceil(bytes.length / SHORTEST_ROW));
  const reader = new RecordReader(rows, columns, table, relativeDeadlines);
  while (rows.next()) reader.read();
  if (table.count === 0) throw traceEmpty(file);

  const { rowStart, wantedUs, thinkTimeUs } = reader;
  const place = (row: number, column: string) => rows.placeInRow(rowStart[row]!, columns.names.indexOf(column));
  checkIds(table, place);
  addPrefixes(table, place);
  return { table, wantedUs, thinkTimeUs, unsorted: !isSorted(table), place };
}

function checkIds({ count, sourceId }: RequestTable, place: TraceV2['place']): void {
  let row = 1;
  while (row < count && sourceId[row]! > sourceId[row - 1]!) row++;
  if (row >= count) return;

  const seen = new Map<number, number>();
  for (row = 0; row < count; row++) {
    const id = sourceId[row]!;
    const first = seen.get(id);
    if (first !== undefined) throw duplicateId(place(row, 'request_id'), id, place(first, 'request_id'));
    seen.set(id, row);
  }
}

/** A group's prefix stands before every prompt of the group, also before those read ahead of the one that told its length. */
function addPrefixes(table: RequestTable, place: TraceV2['place']): void {
  const { count, inputTokens, outputTokens, prefixGroup, prefixTokens } = table;
  for (let row = 0; row < count; row++) {
    const tokens = inputTokens[row]! + prefixTokens[prefixGroup[row]!]!;
    if (tokens > MAX_COUNT) {
      throw fieldInvalid(
        place(row, 'input_tokens'),
        `the prompt has ${tokens} tokens with its group's prefix`,
        `give at most ${MAX_COUNT}`,
      );
    }
    if (tokens === 0 && outputTokens[row] === 0) {
      throw fieldInvalid(
        place(row, 'input_tokens'),
        'the request has neither input nor output',
        'give it at least one token of either',
      );
    }
    inputTokens[row] = tokens;
  }
}
