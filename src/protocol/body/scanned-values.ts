import { COMMA, QUOTE, SPACE } from '../../kernel/text/ascii.js';
import type { FieldNames } from '../json/field-names.js';
import { CLOSE_ARRAY, CLOSE_OBJECT, isOfNumber } from '../json/json-bytes.js';
import { isDigit } from '../json/json-grammar.js';
import { afterGap, afterValue } from '../json/json-members.js';
import { type PromptBytes, TOKEN_BYTES } from '../prompt-bytes.js';
import type { ScannedBody } from './scanned-body.js';

/** Walks over the values of a scanned body, which is valid JSON. A step looks at a few thousand bytes at most. */
export class ScannedValues {
  readonly #body: ScannedBody;
  readonly #bytes: Buffer;

  constructor(body: ScannedBody) {
    this.#body = body;
    this.#bytes = body.bytes;
  }

  /** Where a value ends. */
  end(value: number): number {
    return this.#body.longEnd(value) ?? afterValue(this.#bytes, value);
  }

  /** The first item of a list or name of an object; -1 when it is empty. */
  first(container: number): number {
    const at = afterGap(this.#bytes, container + 1);
    const byte = this.#bytes[at];
    return byte === CLOSE_ARRAY || byte === CLOSE_OBJECT ? -1 : at;
  }

  /** What follows a value that ends at a place; -1 when it was the last. */
  next(end: number): number {
    const at = afterGap(this.#bytes, end);
    return this.#bytes[at] === COMMA ? afterGap(this.#bytes, at + 1) : -1;
  }

  /**
   * Reads the member whose name is at a place, and remembers its value where the name is wanted; of equal names the
   * last counts. Returns the place of the next name; -1 after the last.
   */
  member(name: number, wanted: FieldNames, values: Int32Array): number {
    const nameEnd = this.end(name);
    const value = afterGap(this.#bytes, afterGap(this.#bytes, nameEnd) + 1);
    const field = wanted.find(this.#bytes, name + 1, nameEnd - 1);
    if (field >= 0) values[field] = value;
    return this.next(this.end(value));
  }

  isText(value: number): boolean {
    return value >= 0 && this.#bytes[value] === QUOTE;
  }

  /** It is absent or null. */
  isMissing(value: number): boolean {
    return value < 0 || this.#bytes[value] === 0x6e;
  }

  /**
   * Writes token ids of at most nine digits each, with a comma and at most one space after each, from an item of a list
   * on. Returns the first item that it has not written: one in another form, the last, or one that does not end before
   * `to`.
   */
  plainTokens(from: number, to: number, out: PromptBytes): number {
    const bytes = this.#bytes;
    const until = Math.min(to, bytes.length);
    // An id takes two bytes at least.
    out.reserve(2 * (until - from));
    const { words } = out;
    let { length } = out;
    let item = from;
    let id = 0;
    for (let at = from; at < until; at++) {
      const byte = bytes[at]!;
      if (isDigit(byte)) {
        id = id * 10 + byte - 0x30;
        continue;
      }
      const digits = at - item;
      if (byte !== COMMA || digits === 0 || digits > 9) break;
      words.setInt32(length, id, true);
      length += TOKEN_BYTES;
      id = 0;
      if (bytes[at + 1] === SPACE) at++;
      item = at + 1;
    }
    out.length = length;
    return afterGap(bytes, item);
  }

  /** The token id at [begin, end); -1 when it is none. */
  tokenAt(begin: number, end: number): number {
    const bytes = this.#bytes;
    let id = 0;
    for (let at = begin; at < end && id >= 0; at++) {
      const digit = bytes[at]! - 0x30;
      id = digit >= 0 && digit <= 9 && at - begin < 10 ? id * 10 + digit : -1;
    }
    if (id < 0 && isOfNumber(bytes[begin]!)) id = Number(bytes.toString('latin1', begin, end));
    return Number.isInteger(id) && id >= 0 && id < 2 ** 32 ? id : -1;
  }
}
