import { BACKSLASH } from '../../kernel/text/ascii.js';

/** The most bytes of one character of a name: an escape such as \u0061. */
const ESCAPE_BYTES = 6;

/** Finds which of a few names is written in the bytes of a JSON string, without building it. */
export class FieldNames {
  /** By length: the numbers of the names, and their bytes. */
  readonly #byLength: { field: number; name: Buffer }[][] = [];
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #longest: number;

  /** @param names ASCII */
  constructor(names: readonly string[]) {
    this.#numbers = new Map(names.map((name, field) => [name, field]));
    this.#longest = Math.max(...names.map(({ length }) => length));
    for (let length = 0; length <= this.#longest; length++) this.#byLength.push([]);
    names.forEach((name, field) => {
      this.#byLength[name.length]!.push({ field, name: Buffer.from(name, 'latin1') });
    });
  }

  /** The number of the name between the quotes at [begin, end); -1 for any other. */
  find(bytes: Buffer, begin: number, end: number): number {
    const length = end - begin;
    if (length > this.#longest * ESCAPE_BYTES) return -1;
    if (length <= this.#longest) {
      const candidates = this.#byLength[length]!;
      for (let i = 0; i < candidates.length; i++) {
        if (isSame(candidates[i]!.name, bytes, begin)) return candidates[i]!.field;
      }
    }
    for (let at = begin; at < end; at++) {
      if (bytes[at] === BACKSLASH) return this.#numbers.get(unquoted(bytes, begin, end)) ?? -1;
    }
    return -1;
  }
}

/** The text between the quotes at [begin, end). */
export function unquoted(bytes: Buffer, begin: number, end: number): string {
  return JSON.parse(`"${bytes.toString('utf8', begin, end)}"`) as string;
}

/** Whether the name between the quotes at [begin, end), in lower case, is another one. */
export function isVariant(bytes: Buffer, begin: number, end: number, name: string): boolean {
  const length = end - begin;
  if (length < name.length || length > ESCAPE_BYTES * name.length) return false;
  if (length === name.length) {
    for (let i = 0; i < length; i++) if ((bytes[begin + i]! | 0x20) !== name.charCodeAt(i)) return false;
    return true;
  }
  for (let at = begin; at < end; at++) {
    if (bytes[at] === BACKSLASH) return unquoted(bytes, begin, end).toLowerCase() === name;
  }
  return false;
}

function isSame(name: Buffer, bytes: Buffer, begin: number): boolean {
  for (let i = 0; i < name.length; i++) if (name[i] !== bytes[begin + i]) return false;
  return true;
}
