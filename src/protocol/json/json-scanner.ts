import { BACKSLASH, COLON, COMMA, LF, QUOTE } from '../../kernel/text/ascii.js';
import { ApiError } from '../errors.js';
import { afterPlain, viewOf } from './byte-words.js';
import { FieldNames, isVariant } from './field-names.js';
import { CLOSE_ARRAY, CLOSE_OBJECT, OPEN_ARRAY, OPEN_OBJECT } from './json-bytes.js';
import {
  COLON_NEXT,
  COMMA_OR_END,
  ENDS_RUN,
  ESCAPE,
  ESCAPES,
  expectedIn,
  firstOfScalar,
  HEX,
  isDigit,
  isHex,
  isSpace,
  mayEndNumber,
  NAME_NEXT,
  NAME_OR_END,
  nextOfScalar,
  OVER,
  TEXT,
  VALUE,
  VALUE_OR_END,
  WHOLE,
} from './json-grammar.js';

/** Deeper than any real request, and far from where a recursive walk would exhaust the stack. */
export const MOST_LEVELS = 500;
/** More lists and objects than any real request has. What parses a part of a body relies on it. */
export const MOST_CONTAINERS = 100_000;
/** Bytes of a string that are looked at one by one; what follows is read by words. */
const SHORT_RUN = 8;
/** Values longer than this are remembered, so that nothing has to search for their end again. */
const LONG_BYTES = 16 * 1024;

/** Where the fields of a JSON object are in its bytes. */
export interface Spans {
  /** By field; -1 where it is absent. Of equal names the last counts. */
  readonly begins: number[];
  readonly ends: number[];
  /** The ends of long values, by where they begin; null for none. */
  long: Map<number, number> | null;
}

/**
 * Checks that bytes are a JSON object and finds its fields, in one pass that builds nothing. The bytes may arrive in
 * pieces cut anywhere: each is looked at once, when it arrives. Throws an ApiError.
 */
export class JsonScanner {
  readonly #names: FieldNames;
  /** By field: that it is absent. */
  readonly #absent: number[];
  /** The first field may appear once, and in no other case: what checks it must see what the engine sees. */
  readonly #single: string;
  #spans: Spans;
  #at = 0;
  #state = VALUE;
  #depth = 0;
  #containers = 0;
  /** By level: whether it is an object, and where it begins. */
  readonly #isObject = new Uint8Array(MOST_LEVELS + 1);
  readonly #begins = new Int32Array(MOST_LEVELS + 1);
  /** Where the string or value begins that is being read, and whether it is a name. */
  #begin = 0;
  #isName = false;
  /** Hexadecimal digits so far. */
  #digits = 0;
  /** The field of the document whose value comes or is being read; -1 for none. */
  #field = -1;
  #singles = 0;
  /** The line being read, and where it begins: a string cannot contain a line end. */
  #line = 1;
  #lineBegin = 0;
  /** Of the bytes last scanned, for long strings. */
  #view: DataView | null = null;
  #viewed: Buffer | null = null;

  constructor(names: readonly [string, ...string[]]) {
    this.#names = new FieldNames(names);
    this.#absent = names.map(() => -1);
    this.#single = names[0];
    this.#spans = this.#newSpans();
  }

  /** Begins another document. */
  reset(): void {
    this.#spans = this.#newSpans();
    this.#at = 0;
    this.#state = VALUE;
    this.#depth = 0;
    this.#containers = 0;
    this.#field = -1;
    this.#singles = 0;
    this.#line = 1;
    this.#lineBegin = 0;
    this.#view = null;
    this.#viewed = null;
  }

  /** The fields; bytes[0, length) are the whole document. */
  end(bytes: Buffer, length: number): Spans {
    this.scan(bytes, length);
    if (this.#state !== OVER && (this.#depth > 0 || !mayEndNumber(this.#state))) {
      throw this.#invalid(length, 'it ends too early');
    }
    if (this.#containers === 0 || this.#isObject[1] === 0) {
      throw new ApiError('malformed', 'The body must be a JSON object.');
    }
    return this.#spans;
  }

  /**
   * Reads on to a place: bytes[0, to) are the document so far. One loop with its state in local variables: a method per
   * state takes five times as long.
   */
  scan(bytes: Buffer, to: number): void {
    const isObject = this.#isObject;
    const begins = this.#begins;
    let at = this.#at;
    let state = this.#state;
    let depth = this.#depth;
    let begin = this.#begin;
    let isName = this.#isName;
    while (at < to) {
      const byte = bytes[at]!;
      if (state <= OVER && isSpace(byte)) {
        at++;
        if (byte === LF) {
          this.#line++;
          this.#lineBegin = at;
        }
        continue;
      }
      let hasEnded = false;
      switch (state) {
        case TEXT:
          if (ENDS_RUN[byte] === 0) {
            const near = Math.min(to, at + SHORT_RUN);
            do at++;
            while (at < near && ENDS_RUN[bytes[at]!] === 0);
            if (at === near && at < to) at = afterPlain(this.#viewOf(bytes), at, to);
            continue;
          }
          at++;
          if (byte === BACKSLASH) {
            if (at < to && ESCAPES[bytes[at]!] === 1) at++;
            else state = ESCAPE;
            continue;
          }
          if (byte !== QUOTE) throw this.#unexpected(TEXT, at - 1);
          if (isName) {
            state = COLON_NEXT;
            if (depth === 1) this.#named(bytes, begin + 1, at - 1);
          } else hasEnded = true;
          break;
        case ESCAPE:
          if (ESCAPES[byte] === 0) throw this.#unexpected(state, at);
          state = ESCAPES[byte] === 2 ? HEX : TEXT;
          this.#digits = 0;
          at++;
          continue;
        case HEX:
          if (!isHex(byte)) throw this.#unexpected(state, at);
          if (++this.#digits === 4) state = TEXT;
          at++;
          continue;
        case VALUE:
        case VALUE_OR_END:
          if (byte === CLOSE_ARRAY && state === VALUE_OR_END) {
            begin = begins[depth--]!;
            hasEnded = true;
          } else {
            if (depth === 1 && this.#field >= 0) this.#spans.begins[this.#field] = at;
            begin = at;
            if (byte === QUOTE) {
              isName = false;
              state = TEXT;
            } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
              this.#opens(++depth);
              begins[depth] = at;
              isObject[depth] = byte === OPEN_OBJECT ? 1 : 0;
              state = byte === OPEN_OBJECT ? NAME_OR_END : VALUE_OR_END;
            } else {
              const next = firstOfScalar(byte);
              if (next < 0) throw this.#unexpected(state, at);
              state = next;
              // Token ids: many in a row.
              if (next === WHOLE) {
                while (at + 1 < to && isDigit(bytes[at + 1]!)) at++;
                const isItem = depth > 0 && isObject[depth] === 0 && at - begin < LONG_BYTES;
                if (isItem && at + 1 < to && bytes[at + 1] === COMMA) {
                  at += 2;
                  state = VALUE;
                  continue;
                }
                hasEnded = at + 1 < to && nextOfScalar(WHOLE, bytes[at + 1]!) < 0;
              }
            }
          }
          at++;
          break;
        case COMMA_OR_END:
          if (byte === COMMA) state = isObject[depth] === 1 ? NAME_NEXT : VALUE;
          else if (byte === (isObject[depth] === 1 ? CLOSE_OBJECT : CLOSE_ARRAY)) {
            begin = begins[depth--]!;
            hasEnded = true;
          } else throw this.#unexpected(state, at);
          at++;
          break;
        case NAME_NEXT:
        case NAME_OR_END:
          if (byte === QUOTE) {
            begin = at;
            isName = true;
            state = TEXT;
          } else if (byte === CLOSE_OBJECT && state === NAME_OR_END) {
            begin = begins[depth--]!;
            hasEnded = true;
          } else throw this.#unexpected(state, at);
          at++;
          break;
        case COLON_NEXT:
          if (byte !== COLON) throw this.#unexpected(state, at);
          state = VALUE;
          at++;
          break;
        case OVER:
          throw this.#unexpected(state, at);
        default: {
          const next = nextOfScalar(state, byte);
          if (next >= 0) {
            state = next;
            at++;
            if (next !== OVER) continue;
            hasEnded = true;
          } else if (mayEndNumber(state)) hasEnded = true;
          else throw this.#unexpected(state, at);
        }
      }
      if (hasEnded) {
        if (at - begin > LONG_BYTES) {
          this.#spans.long ??= new Map();
          this.#spans.long.set(begin, at);
        }
        state = depth === 0 ? OVER : COMMA_OR_END;
        if (depth === 1 && this.#field >= 0) this.#spans.ends[this.#field] = at;
      }
    }
    this.#at = at;
    this.#state = state;
    this.#depth = depth;
    this.#begin = begin;
    this.#isName = isName;
  }

  #viewOf(bytes: Buffer): DataView {
    if (this.#view === null || this.#viewed !== bytes) {
      this.#view = viewOf(bytes);
      this.#viewed = bytes;
    }
    return this.#view;
  }

  #opens(depth: number): void {
    if (depth > MOST_LEVELS) throw new ApiError('malformed', 'The body is nested too deeply.');
    if (++this.#containers > MOST_CONTAINERS) {
      throw new ApiError('malformed', `The body has more than ${MOST_CONTAINERS} lists and objects.`);
    }
  }

  #named(bytes: Buffer, begin: number, end: number): void {
    this.#field = this.#names.find(bytes, begin, end);
    if (this.#field !== 0 && !isVariant(bytes, begin, end, this.#single)) return;
    if (this.#field !== 0 || ++this.#singles > 1) {
      throw new ApiError('malformed', `'${this.#single}' must appear once, in lower case.`, this.#single);
    }
  }

  #unexpected(state: number, at: number): ApiError {
    return this.#invalid(at, `expected ${expectedIn(state)}`);
  }

  #invalid(at: number, problem: string): ApiError {
    const place = `position ${at} (line ${this.#line} column ${at - this.#lineBegin + 1})`;
    return new ApiError('malformed', `The body is not valid JSON: ${problem} at ${place}.`);
  }

  #newSpans(): Spans {
    const none = this.#absent;
    return { begins: none.slice(), ends: none.slice(), long: null };
  }
}
