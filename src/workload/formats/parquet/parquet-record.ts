import type { ColumnData } from 'hyparquet';
import { fieldInvalid } from '../../errors.js';
import { checkedCount, checkedTime, type TraceRecord } from '../records/trace-record.js';

/** Dates become text as in CSV: JavaScript's own would lose their microseconds. */
export const TIMESTAMPS_AS_TEXT = {
  timestampFromMilliseconds: (millis: bigint) => momentText(millis * 1000n),
  timestampFromMicroseconds: momentText,
  timestampFromNanoseconds: (nanos: bigint) => momentText((nanos + 500n) / 1000n),
};

/** A row of the columns that are in memory. One object serves all rows. */
export class ParquetRecord implements TraceRecord {
  readonly #path: string;
  readonly #chunks = new Map<string, ColumnData[]>();
  /** Counted from 0 at the beginning of the file. */
  row = 0;

  constructor(path: string, chunks: readonly ColumnData[]) {
    this.#path = path;
    for (const chunk of chunks) {
      const others = this.#chunks.get(chunk.columnName);
      if (others === undefined) this.#chunks.set(chunk.columnName, [chunk]);
      else others.push(chunk);
    }
  }

  /** Whole numbers come as numbers, also in lists. */
  get(field: string): unknown {
    const chunks = this.#chunks.get(field);
    if (chunks === undefined) return undefined;
    for (const { columnData, rowEnd, rowStart } of chunks) {
      if (this.row >= rowStart && this.row < rowEnd) return plain(columnData[this.row - rowStart]);
    }
    return undefined;
  }

  count(field: string): number {
    return checkedCount(this, field, this.#asNumber(field), this.get(field));
  }

  time(field: string): number {
    return checkedTime(this, field, this.#asNumber(field), this.get(field));
  }

  name(field: string): string {
    return String(this.get(field) ?? '');
  }

  invalid(field: string, problem: string, hint: string): Error {
    return fieldInvalid(this.place(field), problem, hint);
  }

  place(field: string): string {
    return `${this.#path}:row ${this.row + 1} (${field})`;
  }

  #asNumber(field: string): number {
    const value = this.get(field);
    if (value === undefined) throw this.invalid(field, 'is missing', 'give a number from 0');
    return typeof value === 'number' ? value : Number.NaN;
  }
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  return value ?? null;
}

function momentText(micros: bigint): string {
  const ms = (micros - (((micros % 1000n) + 1000n) % 1000n)) / 1000n;
  const rest = micros - ms * 1000n;
  return new Date(Number(ms)).toISOString().replace('Z', `${String(rest).padStart(3, '0')}Z`);
}
