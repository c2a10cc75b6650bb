import { COLON, CR, LF, SPACE, TAB } from '../../kernel/text/ascii.js';
import { NAME_BYTES, VALUE_BYTES } from './head-syntax.js';
import type { MessageErrors } from './message-errors.js';

/** Room for fields at first; it doubles when a head has more. */
const USUAL_FIELDS = 64;
/** Room for the bytes of a head that comes in pieces, at first; it doubles as well. */
const USUAL_BYTES = 1024;
/** A substring keeps the whole text in memory, and some names and values are kept for long: larger heads are not shared. */
const MOST_SHARED = 4096;

/** A first line that comes in pieces and is longer than this is scanned again only when it has ended. */
const LONG_LINE = 256;

const START = 0;
const LINE_END = 1;
const LINE = 2;
const NAME = 3;
const BEFORE_VALUE = 4;
const VALUE = 5;
const HEAD_END = 6;

/**
 * Reads the head of a message, however it is cut into pieces: the first line, which subclasses read, and the header lines.
 * Strict: lines end in CR LF, there is no folding and there are no control characters. A head that comes in one piece, as almost
 * all do, is not copied.
 */
export abstract class HeadReader {
  /** Headers or trailers read last: name, value, name, value. */
  headers: string[] = [];
  protected readonly errors: MessageErrors;
  /** The most bytes that a head may have. */
  readonly limit: number;
  readonly #mostFields: number;
  #isTrailer = false;
  #state = START;
  /** Where each name and value starts and ends, from the head's first byte. */
  #marks = new Int32Array(4 * USUAL_FIELDS);
  #fields = 0;
  /** How far the head is scanned, and its bytes if it has come in part. */
  #at = 0;
  #kept: Buffer | null = null;
  #keptLength = 0;

  constructor(limit: number, mostFields: number, errors: MessageErrors) {
    this.limit = limit;
    this.#mostFields = mostFields;
    this.errors = errors;
  }

  /** Where the first line ends; -1 while it is incomplete. Throws when it is malformed. */
  protected abstract start(bytes: Buffer, base: number, to: number): number;

  /** Takes method, target and the like out of the text of the head. */
  protected abstract named(text: string): void;

  /** Starts a head or, after the last chunk, trailers: header lines alone. */
  begin(isTrailer: boolean): void {
    this.#isTrailer = isTrailer;
    this.#state = isTrailer ? LINE : START;
    this.#fields = 0;
    this.#at = 0;
    this.#kept = null;
    this.#keptLength = 0;
  }

  /** Where the head ends, or -1 when it goes on in the next piece. */
  read(bytes: Buffer, from: number, to: number): number {
    const before = this.#keptLength;
    // One byte over the limit is enough.
    const most = Math.min(to - from, this.limit + 1 - before);
    const kept = before === 0 ? null : this.#keep(bytes, from, from + most);
    const end = kept === null ? this.#scan(bytes, from, from + most) : this.#scan(kept, 0, before + most);
    if (end < 0) {
      if (before + most > this.limit) throw this.#tooLarge();
      if (kept === null) this.#keep(bytes, from, to);
      return -1;
    }
    const length = kept === null ? end - from : end;
    if (length > this.limit) throw this.#tooLarge();
    this.#name(kept ?? bytes, kept === null ? from : 0, end);
    return from + length - before;
  }

  #tooLarge(): Error {
    return this.errors.tooLarge(this.#isTrailer ? 'trailers' : 'headers', this.limit);
  }

  #keep(bytes: Buffer, from: number, to: number): Buffer {
    const length = this.#keptLength + to - from;
    let kept = this.#kept;
    if (kept === null || kept.length < length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(USUAL_BYTES, 2 * length));
      kept?.copy(larger, 0, 0, this.#keptLength);
      this.#kept = kept = larger;
    }
    bytes.copy(kept, this.#keptLength, from, to);
    this.#keptLength = length;
    return kept;
  }

  /** Goes on where it stopped. Returns where the head, which starts at `base`, ends; or -1. */
  #scan(bytes: Buffer, base: number, to: number): number {
    const marks = this.#marks;
    let state = this.#state;
    let at = base + this.#at;
    while (at < to) {
      switch (state) {
        case START: {
          const isUnended = this.#at > LONG_LINE && !hasLineEnd(bytes, at, to);
          const end = isUnended ? -1 : this.start(bytes, base, to);
          if (end < 0) {
            this.#at = to - base;
            return -1;
          }
          at = end;
          state = LINE;
          break;
        }
        case LINE_END:
          if (bytes[at++] !== LF) throw this.errors.malformed('has a bare CR');
          state = LINE;
          break;
        case LINE:
          if (bytes[at] === CR) {
            at++;
            state = HEAD_END;
            break;
          }
          if (NAME_BYTES[bytes[at]!] === 0) throw this.errors.malformed('has a header line without a name');
          if (4 * this.#fields === marks.length) {
            this.#state = state;
            this.#at = at - base;
            this.#moreMarks();
            return this.#scan(bytes, base, to);
          }
          marks[4 * this.#fields] = at - base;
          state = NAME;
          break;
        case NAME:
          while (at < to && NAME_BYTES[bytes[at]!] === 1) at++;
          if (at === to) break;
          if (bytes[at] !== COLON) throw this.errors.malformed('has an invalid header name');
          marks[4 * this.#fields + 1] = at++ - base;
          state = BEFORE_VALUE;
          break;
        case BEFORE_VALUE:
          while (at < to && (bytes[at] === SPACE || bytes[at] === TAB)) at++;
          if (at === to) break;
          marks[4 * this.#fields + 2] = at - base;
          state = VALUE;
          break;
        case VALUE: {
          while (at < to && VALUE_BYTES[bytes[at]!] === 1) at++;
          if (at === to) break;
          if (bytes[at] !== CR) throw this.errors.malformed('has a control character in a header');
          const start = base + marks[4 * this.#fields + 2]!;
          let end = at++;
          while (end > start && (bytes[end - 1] === SPACE || bytes[end - 1] === TAB)) end--;
          marks[4 * this.#fields++ + 3] = end - base;
          state = LINE_END;
          break;
        }
        default:
          if (bytes[at++] !== LF) throw this.errors.malformed('has a bare CR');
          return at;
      }
    }
    this.#state = state;
    this.#at = at - base;
    return -1;
  }

  #moreMarks(): void {
    if (this.#fields >= this.#mostFields) {
      throw this.errors.malformed(`has more than ${this.#mostFields} header lines`);
    }
    const more = new Int32Array(2 * this.#marks.length);
    more.set(this.#marks);
    this.#marks = more;
  }

  /** Decodes the head once and takes names and values out of it: cheaper than decoding each. */
  #name(bytes: Buffer, base: number, end: number): void {
    const text = bytes.toString('latin1', base, end);
    const marks = this.#marks;
    const headers: string[] = [];
    const isShared = text.length <= MOST_SHARED;
    for (let i = 0; i < 4 * this.#fields; i += 2) {
      const from = marks[i]!;
      const to = marks[i + 1]!;
      headers.push(isShared ? text.substring(from, to) : bytes.toString('latin1', base + from, base + to));
    }
    this.headers = headers;
    if (!this.#isTrailer) this.named(text);
  }
}

function hasLineEnd(bytes: Buffer, from: number, to: number): boolean {
  const end = bytes.indexOf(LF, from);
  return end >= 0 && end < to;
}
