import { InputError } from '../../kernel/errors.js';
import { columnsRepeated, formatsMixed } from '../errors.js';
import { forEachLine } from '../input-chunks.js';
import { readWholeFile } from '../input-file.js';
import type { Trace } from '../trace.js';
import { CsvRecord } from './csv-record.js';
import { JsonRecord, recordPlace } from './json-record.js';
import { type RecordSchema, traceOfRecords } from './record-schema.js';

/** Reads a file with a JSON object per line. */
export async function readJsonLines(path: string, schema: RecordSchema): Promise<Trace> {
  const reader = schema.reader();
  let index = 0;
  await eachLine(path, schema, (line, number) => reader.add(new JsonRecord(path, line, number), index++));
  return traceOfRecords(schema, reader, path, (record, field) => recordPlace(path, record, field));
}

/** Reads a CSV file whose first line names the columns: in any order, and there may be others. */
export async function readCsv(path: string, schema: RecordSchema): Promise<Trace> {
  const reader = schema.reader();
  let header = '';
  let record: CsvRecord | null = null;
  let index = 0;
  await eachLine(path, schema, (line, number) => {
    if (record === null) {
      header = line;
      record = new CsvRecord(path, line, number, schema.required);
      return;
    }
    if (line === header) throw columnsRepeated(`${path}:${number}:1`);
    record.read(line, number);
    reader.add(record, index++);
  });
  return traceOfRecords(schema, reader, path, (record, column) => csvPlace(path, record, column));
}

/** Lines that are not blank. When one is wrong because another format begins there, says so. */
export async function eachLine(
  path: string,
  schema: Pick<RecordSchema, 'name'>,
  use: (line: string, number: number) => void,
): Promise<void> {
  let failed = '';
  let failedAt = 0;
  try {
    await forEachLine(path, (line, number) => {
      if (line.trim() === '') return;
      try {
        use(line, number);
      } catch (error) {
        failed = line;
        failedAt = number;
        throw error;
      }
    });
  } catch (error) {
    if (failedAt < 2 || !(error instanceof InputError)) throw error;
    // Only now: the formats import this file.
    const { TRACE_FORMATS } = await import('./registry.js');
    const start = { path, isFolder: false, bytes: Buffer.from(failed), text: failed };
    const found = TRACE_FORMATS.find((format) => format.detect(start));
    if (found === undefined || found.name === schema.name) throw error;
    throw formatsMixed(`${path}:${failedAt}:1`, found.name, schema.name);
  }
}

/** Where a column of the n-th record stands: reads the file again, for errors found after reading. */
function csvPlace(path: string, index: number, column: string): string {
  const lines = readWholeFile(path).toString('utf8').split(/\r?\n/);
  const numbers = lines.flatMap((line, i) => (line.trim() === '' ? [] : [i]));
  const record = new CsvRecord(path, lines[numbers[0]!]!, 1, []);
  const number = numbers[index + 1]!;
  record.read(lines[number]!, number + 1);
  return record.place(column);
}
