import { COLON, COMMA, QUOTE } from '../kernel/text/ascii.js';
import { CLOSE_ARRAY, CLOSE_OBJECT, isOfNumber, numberOf, OPEN_ARRAY, OPEN_OBJECT } from './json/json-bytes.js';
import { endOfShort, JsonText } from './json/json-text.js';
import { PassedValue } from './json/passed-value.js';
import { ReportedUsage } from './reported-usage.js';
import {
  EventType,
  eventTypeOf,
  FIRST_OTHER,
  Field,
  fieldOf,
  Inside,
  LONGEST_NAME,
  OBJECT_OF,
} from './response-fields.js';
import type { TokenCounts } from './usage.js';

/** The state of the scan. */
const STRUCTURE = 0;
const NAME = 1;
const TEXT = 2;
const NUMBER = 3;
const PASSED = 4;
const OVER = 5;

/**
 * Reads the usage of a response, and whether an event of a stream carries output, without parsing or keeping the rest:
 * JSON arrives in pieces, split at any byte. For valid JSON the result is that of `JSON.parse`; of equal names
 * the last counts, but output is not reset. For invalid JSON the result is unspecified, in bounded space.
 */
export class ResponseScanner {
  /** Choices that carry output, in a chunk of a chat or plain completion. */
  outputs = 0;
  /** Values that are output, and where the last of them that is a text stands, if it came in one piece. */
  outputValues = 0;
  textFrom = 0;
  textTo = 0;
  /** The meaning of the event's type. */
  type: number = EventType.other;
  hasError = false;
  /** Whether there is a list of choices with nothing in it. */
  isWithoutChoice = false;
  #mode = STRUCTURE;
  #inside: number = Inside.nothing;
  readonly #around = new Uint8Array(8);
  #depth = 0;
  #expectsName = false;
  #field: number = Field.unknown;
  readonly #text = new JsonText();
  readonly #passed = new PassedValue();
  #choiceHasOutput = false;
  readonly #reported = new ReportedUsage();
  /** A name, number or type that a piece may have cut. */
  readonly #word = new Uint8Array(LONGEST_NAME + 1);
  #wordLength = 0;

  reset(): void {
    this.outputs = 0;
    this.outputValues = 0;
    this.textTo = 0;
    this.type = EventType.other;
    this.hasError = false;
    this.isWithoutChoice = false;
    this.#mode = STRUCTURE;
    this.#inside = Inside.nothing;
    this.#depth = 0;
    this.#expectsName = false;
    this.#field = Field.unknown;
    this.#text.reset();
    this.#reported.reset();
  }

  /** Whether the last bracket of the response has been read. */
  get isOver(): boolean {
    return this.#mode === OVER;
  }

  /** Whether the response itself has usage, not a nested one. */
  get hasOwnUsage(): boolean {
    return this.#reported.isOwn;
  }

  /** The reported seconds of audio; -1 when there are none. */
  get audioSeconds(): number {
    return this.#reported.seconds;
  }

  /** Fills in the reported tokens; false when there are none. */
  readUsage(into: TokenCounts): boolean {
    return this.#reported.read(into);
  }

  push(bytes: Uint8Array, from: number, to: number): void {
    this.#passed.nextPiece();
    let at = from;
    while (at < to) {
      switch (this.#mode) {
        case STRUCTURE:
          at = this.#structure(bytes, at, to);
          break;
        case NAME:
          at = this.#name(bytes, at, to);
          break;
        case TEXT:
          at = this.#textOf(bytes, at, to);
          break;
        case NUMBER:
          at = this.#number(bytes, at, to);
          break;
        case PASSED:
          at = this.#pass(bytes, at, to);
          break;
        default:
          return;
      }
    }
  }

  /** Walks from value to value until something begins or ends that has its own mode. */
  #structure(bytes: Uint8Array, from: number, to: number): number {
    for (let at = from; at < to; at++) {
      const byte = bytes[at]!;
      switch (byte) {
        case QUOTE: {
          // Most names are short and complete: they are handled here, as are short texts that are skipped.
          const end = endOfShort(bytes, at + 1, to);
          if (end > 0 && this.#expectsName) this.#named(fieldOf(this.#inside, bytes, at + 1, end));
          else if (end < 0 || this.#field !== Field.unknown) {
            this.#begin(this.#expectsName ? NAME : TEXT);
            return at + 1;
          }
          at = end;
          break;
        }
        case OPEN_OBJECT:
        case OPEN_ARRAY:
          this.#open(byte);
          if (this.#mode !== STRUCTURE) return at + 1;
          break;
        case CLOSE_OBJECT:
        case CLOSE_ARRAY:
          this.#close();
          if (this.#mode !== STRUCTURE) return at + 1;
          break;
        case COMMA:
          if (this.#inside !== Inside.choices) this.#expectsName = true;
          break;
        default:
          // A digit, the sign, or a letter of true, false and null.
          if (this.#field !== Field.unknown && byte > COMMA && byte !== COLON) {
            if (this.#inside === Inside.choices) this.isWithoutChoice = false;
            else if (this.#field < FIRST_OTHER && byte < COLON) {
              this.#begin(NUMBER);
              return at;
            }
          }
      }
    }
    return to;
  }

  #name(bytes: Uint8Array, from: number, to: number): number {
    const end = this.#text.end(bytes, from, to);
    this.#keepWord(bytes, from, end);
    if (end === to) return to;
    this.#mode = STRUCTURE;
    this.#named(fieldOf(this.#inside, this.#word, 0, this.#wordLength));
    return end + 1;
  }

  #named(field: number): void {
    this.#expectsName = false;
    this.#field = field;
    if (field !== Field.unknown) this.#forget(field);
  }

  #begin(mode: number): void {
    this.#mode = mode;
    this.#wordLength = 0;
    if (mode !== TEXT) return;
    if (this.#inside === Inside.choices) this.isWithoutChoice = false;
    else if (this.#field === Field.error) this.hasError = true;
  }

  #textOf(bytes: Uint8Array, from: number, to: number): number {
    const end = this.#text.end(bytes, from, to);
    if (this.#field === Field.output && end > from) {
      this.#choiceHasOutput = true;
      this.outputValues++;
      this.textFrom = from;
      this.textTo = end;
    } else if (this.#field === Field.type) this.#keepWord(bytes, from, end);
    if (end === to) return to;
    if (this.#field === Field.type) this.type = eventTypeOf(this.#word, 0, this.#wordLength);
    this.#endValue();
    return end + 1;
  }

  #number(bytes: Uint8Array, from: number, to: number): number {
    let end = from;
    while (end < to && isOfNumber(bytes[end]!)) end++;
    this.#keepWord(bytes, from, end);
    if (end === to) return end;
    this.#reported.count(this.#field, numberOf(this.#word, this.#wordLength));
    this.#endValue();
    return end;
  }

  #endValue(): void {
    this.#mode = STRUCTURE;
    this.#field = this.#inside === Inside.choices ? Field.choice : Field.unknown;
  }

  #open(bracket: number): void {
    const field = this.#field;
    let inner: number = Inside.nothing;
    if (this.#inside === Inside.choices) this.isWithoutChoice = false;
    if (this.#depth === 0) {
      if (bracket === OPEN_OBJECT) inner = Inside.response;
    } else if (bracket === OPEN_OBJECT) inner = OBJECT_OF[field]!;
    else if (field === Field.choices) inner = Inside.choices;
    if (inner === Inside.nothing) {
      if (field === Field.error) this.hasError = true;
      this.#passed.begin();
      this.#mode = PASSED;
      return;
    }
    this.#around[this.#depth++] = this.#inside;
    this.#inside = inner;
    this.#expectsName = bracket === OPEN_OBJECT;
    this.#field = Field.unknown;
    switch (inner) {
      case Inside.usage:
        this.#reported.begin();
        break;
      case Inside.holder:
        this.#reported.enter(field);
        break;
      case Inside.choices:
        this.isWithoutChoice = true;
        this.#field = Field.choice;
        break;
      case Inside.choice:
        this.#choiceHasOutput = false;
    }
  }

  #close(): void {
    if (this.#depth === 0) return;
    if (this.#inside === Inside.usage) this.#reported.end();
    else if (this.#inside === Inside.holder) this.#reported.leave();
    else if (this.#inside === Inside.choice && this.#choiceHasOutput) this.outputs++;
    this.#inside = this.#around[--this.#depth]!;
    this.#expectsName = false;
    this.#endValue();
    if (this.#depth === 0) this.#mode = OVER;
  }

  /** Continues skipping an object or array. In the place of output, it is output unless it is empty. */
  #pass(bytes: Uint8Array, from: number, to: number): number {
    const end = this.#passed.push(bytes, from, to);
    if (!this.#passed.isOver) return end;
    if (this.#field === Field.output && this.#passed.hasContent) {
      this.#choiceHasOutput = true;
      this.outputValues++;
    }
    this.#endValue();
    if (this.#depth === 0) this.#mode = OVER;
    return end;
  }

  /** A name begins: an earlier value under the same name does not count. */
  #forget(field: number): void {
    switch (field) {
      case Field.choices:
        this.isWithoutChoice = false;
        this.outputs = 0;
        break;
      case Field.type:
        this.type = EventType.other;
        break;
      case Field.error:
        this.hasError = false;
        break;
      default:
        this.#reported.forget(field);
    }
  }

  #keepWord(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to && this.#wordLength <= LONGEST_NAME; at++) this.#word[this.#wordLength++] = bytes[at]!;
  }
}
