import type { NameTable } from '../../kernel/name-table.js';
import { fieldInvalid } from '../errors.js';
import type { CsvRows } from './csv-rows.js';

const SLOTS = 1024;

/**
 * The names of one CSV column. Names repeat: a small cache in front of the table knows the bytes of names seen before, so
 * that a repeated name is found without making a string.
 */
export class NameColumn {
  readonly #rows: CsvRows;
  readonly #table: NameTable;
  /** The largest number that the request table can hold. */
  readonly #limit: number;
  readonly #begin = new Float64Array(SLOTS);
  readonly #length = new Int32Array(SLOTS);
  readonly #index = new Int32Array(SLOTS);

  constructor(rows: CsvRows, table: NameTable, limit: number) {
    this.#rows = rows;
    this.#table = table;
    this.#limit = limit;
  }

  /** The number of the name in this column of the current row; 0 when it is empty. */
  read(column: number): number {
    const rows = this.#rows;
    if (rows.isEmpty(column)) return 0;
    const hash = rows.hash(column);
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    const begin = rows.begin(column);
    const length = rows.end(column) - begin;
    if (this.#length[slot] === length && this.#same(this.#begin[slot]!, begin, length)) return this.#index[slot]!;

    const index = this.#table.index(rows.text(column));
    if (index > this.#limit) {
      throw fieldInvalid(rows.place(column), `more than ${this.#limit} different values`, 'use fewer of them');
    }
    this.#begin[slot] = begin;
    this.#length[slot] = length;
    this.#index[slot] = index;
    return index;
  }

  #same(a: number, b: number, length: number): boolean {
    const bytes = this.#rows.bytes;
    let i = 0;
    while (i < length && bytes[a + i] === bytes[b + i]) i++;
    return i === length;
  }
}
