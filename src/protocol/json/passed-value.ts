import { QUOTE, SPACE } from '../../kernel/text/ascii.js';
import { CLOSE_ARRAY, CLOSE_OBJECT, OPEN_ARRAY, OPEN_OBJECT } from './json-bytes.js';
import { JsonText } from './json-text.js';

/** After this many bytes without a quote or bracket, a search for the next is worth a call. */
const LONG_RUN = 96;

/** The bytes that matter. */
const MATTERS = [CLOSE_ARRAY, QUOTE, OPEN_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] as const;

/** Finds the end of an object or array in JSON that is skipped, split at any byte. */
export class PassedValue {
  isOver = false;
  /** Whether there is anything in it. */
  hasContent = false;
  #depth = 0;
  #isInText = false;
  readonly #text = new JsonText();
  /** Where each byte that matters comes next in the current piece; -1 when it has not been searched. */
  readonly #next = new Int32Array(MATTERS.length);

  /** Its first bracket has been read. */
  begin(): void {
    this.isOver = false;
    this.hasContent = false;
    this.#depth = 1;
    this.#isInText = false;
    this.#text.reset();
  }

  /** The next bytes are in another buffer. */
  nextPiece(): void {
    for (let i = 0; i < MATTERS.length; i++) this.#next[i] = -1;
  }

  /** Advances past its last bracket, or to `to`. */
  push(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    while (at < to && !this.isOver) {
      if (this.#isInText) {
        at = this.#text.end(bytes, at, to);
        if (at < to) this.#isInText = false;
        at++;
      } else at = this.#walk(bytes, at, to);
    }
    return Math.min(at, to);
  }

  #walk(bytes: Uint8Array, from: number, to: number): number {
    let at = this.hasContent ? from : this.#skipGap(bytes, from, to);
    for (let leap = at + LONG_RUN; at < to; at++) {
      const byte = bytes[at]!;
      if (byte < OPEN_ARRAY && byte !== QUOTE) {
        if (at !== leap) continue;
        // Numbers of a vector, most likely: they are many.
        at = this.#nextThatMatters(bytes, at, to) - 1;
        leap = at + LONG_RUN;
      } else if (byte === QUOTE) {
        this.#isInText = true;
        return at + 1;
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#depth++;
      else if ((byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) && --this.#depth === 0) {
        this.isOver = true;
        return at + 1;
      }
    }
    return to;
  }

  /** The first byte is content, unless it is the end. */
  #skipGap(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    while (at < to && bytes[at]! <= SPACE) at++;
    if (at < to) this.hasContent = bytes[at] !== CLOSE_ARRAY && bytes[at] !== CLOSE_OBJECT;
    return at;
  }

  /** A rare byte is not searched again in every step. */
  #nextThatMatters(bytes: Uint8Array, from: number, to: number): number {
    let first = to;
    for (let i = 0; i < MATTERS.length; i++) {
      if (this.#next[i]! < from) {
        const at = bytes.indexOf(MATTERS[i]!, from);
        this.#next[i] = at < 0 ? bytes.length : at;
      }
      first = Math.min(first, this.#next[i]!);
    }
    return first;
  }
}
