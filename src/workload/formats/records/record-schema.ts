import { type RequestTable, sourceIdOf } from '../../request-table.js';
import type { Trace } from '../../trace.js';
import { plainTrace } from './plain-trace.js';
import type { TraceRecord } from './trace-record.js';

/** The fields of a format's records, in JSON lines, CSV or Parquet. */
export interface RecordSchema {
  /** As the registry names the format. */
  name: string;
  /** Fields that every record has. */
  required: readonly string[];
  /** Fields that a record may have; all others are ignored. */
  optional: readonly string[];
  /** Its own names of TraceV2 columns: errors found later name `session_id` and the like. */
  names: Readonly<Record<string, string>>;
  /** Begins to read a file. */
  reader(): RecordReader;
}

export interface RecordReader {
  table: RequestTable;
  /** Adds the next record as a row, or leaves it out; `index` counts the file's records and becomes its number. */
  add(record: TraceRecord, index: number): void;
  /** Completes what depends on the last record. `place`: the place of a row's field, by this format's names. */
  end?(place: Trace['place']): Partial<Pick<Trace, 'notes' | 'thinkTimeUs'>>;
}

/** The trace of a reader. `place`: the place of a field of the file's n-th record. */
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
