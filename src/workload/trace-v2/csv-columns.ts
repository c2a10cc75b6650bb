import type { NameTable } from '../../kernel/name-table.js';
import { fieldInvalid, rowTooShort } from '../errors.js';
import { COMMA, type CsvFile, NEWLINE, QUOTE } from './csv-file.js';
import { NameColumn } from './name-column.js';

/** What a column holds and where its values go; without `into` they are only checked. */
export type CsvColumn =
  | { name: string; holds: 'whole'; min: number; max: number; into?: Float64Array | Int32Array; emptyIsZero?: boolean }
  | { name: string; holds: 'name'; names: NameTable; max: number; into: Int32Array | Uint16Array }
  | { name: string; holds: 'boolean'; into: Uint8Array }
  | { name: string; holds: 'ratio' }
  | { name: string; holds: 'text' };

const ZERO = 48;
const NINE = 57;
/** Numbers of up to this many digits are exact however they are added up. */
const EXACT_DIGITS = 15;
const OTHER = 0;
const WHOLE = 1;
const NAME = 2;

/**
 * Reads rows into columns. One loop sees every byte: plain numbers and names are read in it without making strings, all
 * else (signs, quotes, booleans, mistakes) goes through the field's text.
 */
export class CsvColumns {
  readonly #file: CsvFile;
  readonly #columns: readonly CsvColumn[];
  readonly #required: number;
  readonly #kinds: Uint8Array;
  readonly #max: Float64Array;
  readonly #numbers: (Float64Array | Int32Array | null)[];
  readonly #names: (NameColumn | null)[];
  #nextRow: number;

  constructor(file: CsvFile, columns: readonly CsvColumn[], required: number, firstRow: number) {
    this.#file = file;
    this.#columns = columns;
    this.#required = required;
    this.#nextRow = firstRow;
    this.#kinds = Uint8Array.from(columns, ({ holds }) => (holds === 'whole' ? WHOLE : holds === 'name' ? NAME : OTHER));
    this.#max = Float64Array.from(columns, (column) => (column.holds === 'whole' ? column.max : 0));
    this.#numbers = columns.map((column) => (column.holds === 'whole' ? (column.into ?? null) : null));
    this.#names = columns.map((column) => (column.holds === 'name' ? new NameColumn(file.bytes, column.names) : null));
  }

  /** Reads the row that begins at this offset as number `row` and gives the offset behind it. */
  read(begin: number, row: number): number {
    const bytes = this.#file.bytes;
    const kinds = this.#kinds;
    const columns = kinds.length;
    let column = 0;
    let p = begin;
    let byte: number;
    do {
      const start = p;
      const kind = column < columns ? kinds[column]! : OTHER;
      byte = bytes[p]!;
      if (kind === WHOLE) {
        let value = 0;
        while (byte >= ZERO && byte <= NINE) {
          value = value * 10 + (byte - ZERO);
          byte = bytes[++p]!;
        }
        if (byte !== COMMA || p === start || p - start > EXACT_DIGITS || value > this.#max[column]!) {
          p = this.#readText(column, start, row);
        } else {
          const into = this.#numbers[column]!;
          if (into !== null) into[row] = value;
        }
      } else if (byte === QUOTE) {
        p = this.#readText(column, start, row);
      } else if (kind === NAME) {
        let hash = 0;
        while (byte !== COMMA && byte !== NEWLINE) {
          hash = Math.imul(hash ^ byte, 0x01000193);
          byte = bytes[++p]!;
        }
        if (byte === NEWLINE) p = this.#readText(column, start, row);
        else if (p > start) this.#storeName(column, row, this.#names[column]!.find(start, p, hash));
      }
    } while (byte !== NEWLINE);
    return p;
  }
}
