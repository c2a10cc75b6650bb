import { type RequestTable, sourceIdOf } from '../../request-table.js';
import type { Trace } from '../../trace.js';
import { plainTrace } from './plain-trace.js';
import type { TraceRecord } from './trace-record.js';

/** What the records of a format say, whether they stand in JSON lines, in CSV or in Parquet. */
export interface RecordSchema {
  /** As the registry names the format. */
  name: string;
  /** Fields that every record has. */
  required: readonly string[];
  /** Fields that a record may have; all others are not looked at. */
  optional: readonly string[];
  /** Its own names for what a TraceV2 calls otherwise: errors found later ask for the places of `session_id` and the like. */
  names: Readonly<Record<string, string>>;
  /** Begins to read a file. */
  reader(): RecordReader;
}

export interface RecordReader {
  table: RequestTable;
  /** Takes the next record and makes it a row, or leaves it out; `index` counts the file's records and becomes its number. */
  add(record: TraceRecord, index: number): void;
  /** Settles what is known only after the last record. `place`: where a field of a row stands, by this format's names. */
  end?(place: Trace['place']): Partial<Pick<Trace, 'notes' | 'thinkTimeUs'>>;
}

/** The trace that a reader made. `place`: where a field of the file's n-th record stands. */
export function traceOfRecords(
  schema: RecordSchema,
  reader: RecordReader,
  path: string,
  place: (index: number, field: string) => string,
): Trace {
  const { table } = reader;
  const placeOf = (row: number, column: string) => place(sourceIdOf(table, row), schema.names[column] ?? column);
  const settled = reader.end?.(placeOf);
  return { ...plainTrace(schema.name, path, table, placeOf), ...settled };
}
