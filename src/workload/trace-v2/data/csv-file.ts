import { COMMA, CR, LF, QUOTE } from '../../../kernel/text/ascii.js';
import { fieldInvalid } from '../../errors.js';

/** A quoted text continues after the end of the window: the row is read again when more of the file is there. */
export class RowIncomplete extends Error {}

/** The position of a window in its file. */
export interface WindowPlace {
  /** How many bytes of the file come before it. */
  offset: number;
  /** The file ends with it. */
  isLast: boolean;
  /** The whole file, unpacked: read again to name the place of an error. */
  wholeFile: () => Buffer;
}

/** A window of a CSV file, or all of it: the ends of fields, their text, and places for messages. */
export class CsvFile {
  /** Ends in a newline, so that no scan needs to watch for the end of the file. */
  readonly bytes: Buffer;
  /** Offset of the first byte after a byte order mark. */
  readonly start: number;
  readonly #path: string;
  readonly #window: WindowPlace;
  readonly #endsOpen: boolean;

  constructor(bytes: Buffer, path: string, window?: WindowPlace) {
    this.#path = path;
    this.#window = window ?? { offset: 0, isLast: true, wholeFile: () => this.bytes };
    this.#endsOpen = bytes.length > 0 && bytes[bytes.length - 1] !== LF;
    this.bytes = this.#endsOpen ? Buffer.concat([bytes, Buffer.from('\n')]) : bytes;
    this.start = this.#window.offset === 0 && isByteOrderMark(bytes) ? 3 : 0;
  }

  /** Whether the row that ends with this newline lost its end: the file stops there without one. */
  isCutAt(newline: number): boolean {
    return this.#endsOpen && newline === this.bytes.length - 1;
  }

  /** The offset of the next row that is not blank, or the length of the file. */
  nextRow(from: number): number {
    const bytes = this.bytes;
    let p = from;
    while (p < bytes.length && (bytes[p] === LF || (bytes[p] === CR && bytes[p + 1] === LF))) p++;
    return p;
  }

  /** The offset of the comma or newline that ends the field beginning here. */
  fieldEnd(begin: number, column: string): number {
    const bytes = this.bytes;
    let p = begin;
    if (bytes[p] !== QUOTE) {
      while (bytes[p] !== COMMA && bytes[p] !== LF) p++;
      return p;
    }
    do {
      p = bytes.indexOf(QUOTE, p + 1) + 1;
      if (p === 0 && !this.#window.isLast) throw new RowIncomplete();
      if (p === 0) {
        throw fieldInvalid(this.place(begin, column), 'the quoted text never ends', 'close it with a double quote');
      }
    } while (bytes[p] === QUOTE);
    if (bytes[p] === CR && bytes[p + 1] === LF) p++;
    if (bytes[p] === COMMA || bytes[p] === LF) return p;
    throw fieldInvalid(this.place(p, column), 'text after the closing quote', 'write a quote inside a text twice');
  }

  /** The offset of a field of the row that begins here, or of the row's last field when it has fewer. */
  fieldBegin(rowBegin: number, position: number): number {
    let p = rowBegin;
    for (let i = 0; i < position; i++) {
      const end = this.fieldEnd(p, `column ${i + 1}`);
      if (this.bytes[end] === LF) break;
      p = end + 1;
    }
    return p;
  }

  /** The text of a field without quotes. `end` as returned by `fieldEnd`. */
  text(begin: number, end: number): string {
    const bytes = this.bytes;
    const last = bytes[end] === LF && end > begin && bytes[end - 1] === CR ? end - 1 : end;
    const text = bytes.toString('utf8', begin, last);
    return bytes[begin] === QUOTE ? text.slice(1, -1).replaceAll('""', '"') : text;
  }

  /** `trace.csv:14:7 (input_tokens)`: line and character of an offset. */
  place(offset: number, column: string): string {
    const bytes = this.#window.wholeFile();
    const at = this.#window.offset + offset;
    let line = 1;
    let lineStart = isByteOrderMark(bytes) ? 3 : 0;
    for (let p = bytes.indexOf(LF); p >= 0 && p < at; p = bytes.indexOf(LF, p + 1)) {
      line++;
      lineStart = p + 1;
    }
    return `${this.#path}:${line}:${bytes.toString('utf8', lineStart, at).length + 1} (${column})`;
  }
}

function isByteOrderMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** The place of a field of the n-th row below the column names. */
export function csvPlace(bytes: Buffer, path: string, row: number, names: readonly string[], column: string): string {
  const file = new CsvFile(bytes, path);
  let begin = file.nextRow(file.start);
  for (let line = 0; line <= row; line++) begin = file.nextRow(rowEnd(file, begin));
  return file.place(file.fieldBegin(begin, names.indexOf(column)), column);
}

/** The offset after a row. */
function rowEnd(file: CsvFile, begin: number): number {
  let p = begin;
  for (;;) {
    const end = file.fieldEnd(p, '');
    if (file.bytes[end] === LF) return end + 1;
    p = end + 1;
  }
}

/** A text as a field of a CSV file: quoted where it must be. */
export function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
