import { fieldInvalid } from '../../errors.js';
import { readWholeFile } from '../../input-file.js';
import { checkedCount, checkedTime, type TraceRecord } from './trace-record.js';

/** One line of a JSON-lines file as an object, with errors that name its fields. */
export class JsonRecord implements TraceRecord {
  readonly #path: string;
  readonly #line: string;
  readonly #number: number;
  readonly #fields: Record<string, unknown>;

  constructor(path: string, line: string, number: number) {
    this.#path = path;
    this.#line = line;
    this.#number = number;
    this.#fields = this.#parse();
  }

  /** The value of a field; undefined when it is absent. */
  get(field: string): unknown {
    return Object.hasOwn(this.#fields, field) ? this.#fields[field] : undefined;
  }

  /** A field that must hold a whole number from 0. */
  count(field: string): number {
    return checkedCount(this, field, this.#asNumber(field), this.get(field));
  }

  /** A field that must hold a number from 0, whole or not. */
  time(field: string): number {
    return checkedTime(this, field, this.#asNumber(field), this.get(field));
  }

  /** A field that holds a text or a number, as text; empty when it is absent or null. */
  name(field: string): string {
    const value = this.get(field) ?? '';
    if (typeof value === 'string' || typeof value === 'number') return String(value);
    throw this.invalid(field, 'is neither a text nor a number', 'give a text or a number');
  }

  invalid(field: string, problem: string, hint: string): Error {
    return fieldInvalid(this.place(field), problem, hint);
  }

  place(field: string): string {
    const column = this.#line.indexOf(`"${field}"`) + 1 || 1;
    return `${this.#path}:${this.#number}:${column} (${field})`;
  }

  #asNumber(field: string): number {
    const value = this.get(field);
    if (value === undefined) throw this.invalid(field, 'is missing', 'give a number from 0');
    return typeof value === 'number' ? value : Number.NaN;
  }

  #parse(): Record<string, unknown> {
    let value: unknown;
    try {
      value = JSON.parse(this.#line);
    } catch (error) {
      const at = /position (\d+)/.exec((error as Error).message)?.[1];
      const column = at === undefined ? this.#line.length + 1 : Number(at) + 1;
      const place = `${this.#path}:${this.#number}:${column}`;
      throw fieldInvalid(place, 'the line is not JSON', 'write one JSON object per line');
    }
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    const place = `${this.#path}:${this.#number}:1`;
    throw fieldInvalid(place, 'the line is not a JSON object', 'write one JSON object per line');
  }
}

/** The place of a field of the n-th record. Reads the file again, for errors found after reading. */
export function recordPlace(path: string, record: number, field: string): string {
  const lines = readWholeFile(path).toString('utf8').split('\n');
  let seen = -1;
  const index = lines.findIndex((line) => line.trim() !== '' && ++seen === record);
  const column = (lines[index] ?? '').indexOf(`"${field}"`) + 1 || 1;
  return `${path}:${index + 1}:${column} (${field})`;
}
