import { columnsInvalid, fieldInvalid, rowTooLong, rowTooShort } from '../../errors.js';
import { checkedCount, checkedTime, type TraceRecord } from './trace-record.js';

const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** The line of a CSV file that was read last. One object serves all lines: columns are found by name once. */
export class CsvRecord implements TraceRecord {
  readonly #path: string;
  readonly #names: readonly string[];
  readonly #positions = new Map<string, number>();
  #fields: readonly string[] = [];
  #line = '';
  #number = 0;

  /** @param header the line with the column names; those of `required` must be among them, in any order */
  constructor(path: string, header: string, number: number, required: readonly string[]) {
    this.#path = path;
    this.#line = header;
    this.#number = number;
    this.#names = this.#split(header).map((name) => name.trim());
    this.#names.forEach((name, i) => {
      if (this.#positions.has(name)) {
        throw columnsInvalid(this.#at(i, name), `column '${name}' appears twice`, 'give every column a different name');
      }
      this.#positions.set(name, i);
    });
    const missing = required.find((name) => !this.#positions.has(name));
    if (missing === undefined) return;
    const place = `${path}:${number}:1`;
    throw columnsInvalid(place, `column '${missing}' is missing`, `name the columns ${required.join(', ')}`);
  }

  /** Parses a line into this record. */
  read(line: string, number: number): void {
    this.#line = line;
    this.#number = number;
    const fields = line.includes('"') ? this.#split(line) : line.split(',');
    const wanted = this.#names.length;
    if (fields.length < wanted) {
      throw rowTooShort(this.#at(fields.length - 1, this.#names[fields.length]!), fields.length, wanted, false);
    }
    if (fields.length > wanted) throw rowTooLong(this.#at(wanted, `column ${wanted + 1}`), fields.length, wanted);
    this.#fields = fields;
  }

  get(column: string): string | undefined {
    const position = this.#positions.get(column);
    return position === undefined ? undefined : this.#fields[position];
  }

  count(column: string): number {
    const text = this.get(column) ?? '';
    return checkedCount(this, column, NUMBER.test(text) ? Number(text) : Number.NaN, text);
  }

  time(column: string): number {
    const text = this.get(column) ?? '';
    return checkedTime(this, column, NUMBER.test(text) ? Number(text) : Number.NaN, text);
  }

  name(column: string): string {
    return this.get(column) ?? '';
  }

  invalid(column: string, problem: string, hint: string): Error {
    return fieldInvalid(this.place(column), problem, hint);
  }

  place(column: string): string {
    return this.#at(this.#positions.get(column) ?? 0, column);
  }

  #at(position: number, column: string): string {
    return `${this.#path}:${this.#number}:${fieldBegin(this.#line, position) + 1} (${column})`;
  }

  /** The fields of a line, quotes taken off. */
  #split(line: string): string[] {
    const fields: string[] = [];
    for (let begin = 0; begin <= line.length; ) {
      const end = fieldEnd(line, begin);
      const text = line.slice(begin, end);
      const quoted = /^"((?:[^"]|"")*)"$/.exec(text);
      if (quoted === null && text.startsWith('"')) {
        const place = `${this.#path}:${this.#number}:${begin + 1}`;
        throw fieldInvalid(place, 'the quotes around a text are not in pairs', 'write a quote inside a text twice');
      }
      fields.push(quoted === null ? text : quoted[1]!.replaceAll('""', '"'));
      begin = end + 1;
    }
    return fields;
  }
}

/** Offset of the comma or the line end after a field. */
function fieldEnd(line: string, begin: number): number {
  let quoted = false;
  for (let p = begin; p < line.length; p++) {
    if (line[p] === '"') quoted = !quoted;
    else if (line[p] === ',' && !quoted) return p;
  }
  return line.length;
}

function fieldBegin(line: string, position: number): number {
  let begin = 0;
  for (let i = 0; i < position; i++) {
    const end = fieldEnd(line, begin);
    if (end === line.length) break;
    begin = end + 1;
  }
  return begin;
}
