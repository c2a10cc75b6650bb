import { InputError } from '../../../kernel/errors.js';
import { columnsRepeated } from '../../errors.js';
import { forEachLine } from '../../input-chunks.js';
import { readWholeFile } from '../../input-file.js';
import type { Trace } from '../../trace.js';
import { CsvRecord } from './csv-record.js';
import { JsonRecord, recordPlace } from './json-record.js';
import { type RecordSchema, traceOfRecords } from './record-schema.js';

/** Reads a file with a JSON object per line. */
export async function readJsonLines(path: string, schema: RecordSchema): Promise<Trace> {
  const reader = schema.reader();
  let index = 0;
  await eachLine(path, (line, number) => reader.add(new JsonRecord(path, line, number), index++));
  return traceOfRecords(schema, reader, path, (record, field) => recordPlace(path, record, field));
}

/** Reads a CSV file whose first line names the columns: in any order, and there may be others. */
export async function readCsv(path: string, schema: RecordSchema): Promise<Trace> {
  const reader = schema.reader();
  let header = '';
  let record: CsvRecord | null = null;
  let index = 0;
  await eachLine(path, (line, number) => {
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

/** An error in a line of a file, with the line: another format may begin there. */
export class LineError extends InputError {
  constructor(
    { code, hint, place, problem }: InputError,
    readonly file: string,
    readonly number: number,
    readonly line: string,
  ) {
    super(code, place, problem, hint);
  }
}

/** Calls `use` with every line that is not blank; an InputError that it throws becomes a LineError. */
export async function eachLine(path: string, use: (line: string, number: number) => void): Promise<void> {
  await forEachLine(path, (line, number) => {
    if (line.trim() === '') return;
    try {
      use(line, number);
    } catch (error) {
      throw error instanceof InputError ? new LineError(error, path, number, line) : error;
    }
  });
}

/** The place of a column of the n-th record. Reads the file again, for errors found after reading. */
function csvPlace(path: string, index: number, column: string): string {
  const lines = readWholeFile(path).toString('utf8').split(/\r?\n/);
  const numbers = lines.flatMap((line, i) => (line.trim() === '' ? [] : [i]));
  const record = new CsvRecord(path, lines[numbers[0]!]!, 1, []);
  const number = numbers[index + 1]!;
  record.read(lines[number]!, number + 1);
  return record.place(column);
}
