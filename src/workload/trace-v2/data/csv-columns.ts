import { NameTable } from '../../../kernel/name-table.js';
import { COMMA, LF, QUOTE } from '../../../kernel/text/ascii.js';
import { fieldInvalid, rowTooShort } from '../../errors.js';
import type { CsvFile } from './csv-file.js';
import { NameColumn } from './name-column.js';

/**
 * What a column holds and where its values are written: without `into` it is only checked. Names and booleans are
 * written as numbers.
 */
export type CsvColumn =
  | { name: string; holds: 'whole'; min: number; max: number; into?: Float64Array | Int32Array; emptyIsZero?: boolean }
  | { name: string; holds: 'ratio'; into: Float64Array }
  | { name: string; holds: 'name'; names: NameTable; max: number; into: Int32Array | Uint16Array }
  /** 1 for true, 2 for false. */
  | { name: string; holds: 'boolean'; into: Uint8Array }
  /** `read` parses the text of a row and returns what is wrong with it, if anything; not called for an empty field. */
  | { name: string; holds: 'list'; accepted: string; read: (row: number, text: string) => string | undefined }
  | { name: string; holds: 'anything' };

const ZERO = 48;
const NINE = 57;
/** Numbers of up to this many digits are exact however they are added up. */
const EXACT_DIGITS = 15;
const ANYTHING = 0;
const DIGITS = 1;
const WORD = 2;
const WORD_OR_EMPTY = 3;
const KINDS = {
  whole: DIGITS,
  ratio: DIGITS,
  name: WORD_OR_EMPTY,
  boolean: WORD,
  list: WORD_OR_EMPTY,
  anything: ANYTHING,
};

/**
 * Reads the rows of a CSV file into columns, by position. One loop sees every byte: plain numbers and words are read in
 * it without creating strings; all else (signs, fractions, quotes, line ends, mistakes) is read from the text of the
 * field.
 */
export class CsvColumns {
  #file: CsvFile;
  readonly #columns: readonly CsvColumn[];
  readonly #required: number;
  readonly #kinds: Uint8Array;
  readonly #max: Float64Array;
  readonly #numbers: (Float64Array | Int32Array | null)[];
  readonly #words: (NameColumn | null)[];

  /** `required`: how many columns a row must have; it may have more than are known. */
  constructor(file: CsvFile, columns: readonly CsvColumn[], required: number) {
    this.#file = file;
    this.#columns = columns;
    this.#required = required;
    this.#kinds = Uint8Array.from(columns, (column) => KINDS[column.holds]);
    this.#max = Float64Array.from(columns, (column) => (column.holds === 'whole' ? column.max : 1));
    this.#numbers = columns.map((column) =>
      column.holds === 'whole' || column.holds === 'ratio' ? (column.into ?? null) : null,
    );
    this.#words = columns.map((column) => {
      if (column.holds === 'name') return new NameColumn(column.names, column.max, column.into);
      return column.holds === 'boolean' ? new NameColumn(booleans(), 2, column.into) : null;
    });
  }

  /** The rows that follow come from another window of the file. */
  moveTo(file: CsvFile): void {
    this.#file = file;
  }

  /** Reads the row at this offset as row number `row`; returns the offset after it. */
  read(rowBegin: number, row: number): number {
    const bytes = this.#file.bytes;
    const kinds = this.#kinds;
    const known = kinds.length;
    // Locals: variables outside the function are slow until the loop is optimized.
    const comma = COMMA;
    const newline = LF;
    const zero = ZERO;
    const nine = NINE;
    let column = 0;
    let p = rowBegin;
    let byte: number;
    do {
      const begin = p;
      const kind = column < known ? kinds[column]! : ANYTHING;
      let plain = true;
      byte = bytes[p]!;
      if (kind === DIGITS) {
        let value = 0;
        while (byte >= zero && byte <= nine) {
          value = value * 10 + (byte - zero);
          byte = bytes[++p]!;
        }
        plain = byte === comma && p > begin && p - begin <= EXACT_DIGITS && value <= this.#max[column]!;
        if (plain) {
          const into = this.#numbers[column]!;
          // Columns start at zero: memory that is not written is never taken.
          if (into !== null && value !== 0) into[row] = value;
        }
      } else if (byte === QUOTE) {
        plain = false;
      } else {
        let hash = 0;
        while (byte !== comma && byte !== newline) {
          hash = Math.imul(hash ^ byte, 0x01000193);
          byte = bytes[++p]!;
        }
        if (kind !== ANYTHING) {
          plain =
            p === begin
              ? kind === WORD_OR_EMPTY
              : byte === comma && this.#words[column]?.read(bytes, begin, p, hash, row) === true;
        }
      }
      if (!plain) {
        p = this.#readText(column, begin, row);
        byte = bytes[p]!;
      }
      column++;
      p++;
    } while (byte !== newline);
    if (column < this.#required) throw this.#tooShort(column, p - 1);
    return p;
  }

  /** Reads any field, slowly; returns the offset of the comma or newline after it. */
  #readText(position: number, begin: number, row: number): number {
    const column = this.#columns[position] ?? { name: `column ${position + 1}`, holds: 'anything' };
    const end = this.#file.fieldEnd(begin, column.name);
    if (this.#file.bytes[end] === LF && position + 1 < this.#required) throw this.#tooShort(position + 1, end);
    const text = this.#file.text(begin, end);
    const fail = (problem: string, hint: string) => fieldInvalid(this.#file.place(begin, column.name), problem, hint);

    if (column.holds === 'whole') {
      const value = text === '' && column.emptyIsZero ? 0 : /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
      if (!(value >= column.min && value <= column.max)) {
        let problem = `${text} is too large`;
        if (Number.isNaN(value)) problem = `${shown(text)} is not a whole number`;
        else if (value < column.min) problem = `${text} is ${column.min === 0 ? 'negative' : 'too small'}`;
        throw fail(problem, `give a whole number from ${column.min} to ${column.max}`);
      }
      if (column.into !== undefined) column.into[row] = value;
    } else if (column.holds === 'ratio') {
      const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
      if (!(value >= 0 && value <= 1)) {
        const problem = Number.isNaN(value) ? `${shown(text)} is not a number` : `${text} is outside 0 to 1`;
        throw fail(problem, 'give a number from 0 to 1');
      }
      column.into[row] = value;
    } else if (column.holds === 'list') {
      const problem = text === '' ? undefined : column.read(row, text);
      if (problem !== undefined) throw fail(problem, `give ${column.accepted}`);
    } else if (column.holds === 'boolean') {
      if (text === '' || !this.#words[position]!.store(text, row)) {
        throw fail(`${shown(text)} is not true or false`, "write 'true' or 'false'");
      }
    } else if (column.holds === 'name') {
      if (!this.#words[position]!.store(text, row)) throw fail(`more than ${column.max} different values`, 'use fewer');
    }
    return end;
  }

  #tooShort(found: number, newline: number): Error {
    const place = this.#file.place(newline, this.#columns[found]?.name ?? `column ${found + 1}`);
    return rowTooShort(place, found, this.#required, this.#file.isCutAt(newline));
  }
}

function booleans(): NameTable {
  const names = new NameTable();
  names.index('true');
  names.index('false');
  return names;
}

function shown(text: string): string {
  if (text === '') return 'an empty field';
  return `'${text.length > 40 ? `${text.slice(0, 40)}...` : text}'`;
}
