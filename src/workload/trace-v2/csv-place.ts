import { CsvFile, NEWLINE } from './csv-file.js';

/** Where a field of the n-th row below the column names stands. */
export function csvPlace(bytes: Buffer, path: string, row: number, names: readonly string[], column: string): string {
  const file = new CsvFile(bytes, path);
  let begin = file.nextRow(file.start);
  for (let line = 0; line <= row; line++) begin = file.nextRow(rowEnd(file, begin));
  return file.place(file.fieldBegin(begin, names.indexOf(column)), column);
}

/** The offset behind a row. */
function rowEnd(file: CsvFile, begin: number): number {
  let p = begin;
  for (;;) {
    const end = file.fieldEnd(p, '');
    if (file.bytes[end] === NEWLINE) return end + 1;
    p = end + 1;
  }
}
