import { COLON, CR, LF, NAME_BYTES, SPACE, TAB, VALUE_BYTES } from './field-bytes.js';
import { headTooLarge, malformed } from './upstream-error.js';

/** More lines than this are no head but an attack. */
const MOST_FIELDS = 256;
const VERSION = [...Buffer.from('HTTP/1.')];
/** `HTTP/1.1 200` */
const STATUS_LENGTH = 12;

const STATUS = 0;
const REASON = 1;
const LINE_END = 2;
const LINE = 3;
const NAME = 4;
const BEFORE_VALUE = 5;
const VALUE = 6;
const HEAD_END = 7;

/**
 * Reads the head of an answer in whatever pieces it comes: status line and header lines, strictly. Lines end in CR LF, nothing is
 * folded, no control characters. A head that comes in one piece, as almost all do, is not copied.
 */
export class HeadReader {
  /** Of the head read last. */
  status = 0;
  /** 0 for HTTP/1.0. */
  minor = 0;
  /** Name, value, name, value. */
  headers: string[] = [];
  readonly #limit: number;
  #isTrailer = false;
  #state = STATUS;
  /** Where each name and value starts and ends, from the head's first byte. */
  readonly #marks = new Int32Array(4 * MOST_FIELDS);
  #fields = 0;
  /** How far the head was looked at, and its bytes if it has come in part. */
  #at = 0;
  #kept: Buffer | null = null;
  #keptLength = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** A new head follows; or, after the last chunk, header lines alone, which are read and forgotten. */
  begin(isTrailer: boolean): void {
    this.#isTrailer = isTrailer;
    this.#state = isTrailer ? LINE : STATUS;
    this.#fields = 0;
    this.#at = 0;
    this.#kept = null;
    this.#keptLength = 0;
  }

  /** The place after the head, or -1 when it goes on in the next piece. */
  read(bytes: Buffer, from: number, to: number): number {
    const before = this.#keptLength;
    // One byte over the limit is enough to know.
    const most = Math.min(to - from, this.#limit + 1 - before);
    const kept = before === 0 ? null : this.#keep(bytes, from, from + most);
    const end = kept === null ? this.#scan(bytes, from, from + most) : this.#scan(kept, 0, before + most);
    if (end < 0) {
      if (before + most > this.#limit) throw headTooLarge(this.#isTrailer ? 'trailers' : 'headers', this.#limit);
      if (kept === null) this.#keep(bytes, from, to);
      return -1;
    }
    const length = kept === null ? end - from : end;
    if (length > this.#limit) throw headTooLarge(this.#isTrailer ? 'trailers' : 'headers', this.#limit);
    if (!this.#isTrailer) this.#name(kept ?? bytes, kept === null ? from : 0, end);
    return from + length - before;
  }

  #keep(bytes: Buffer, from: number, to: number): Buffer {
    this.#kept ??= Buffer.allocUnsafeSlow(this.#limit + 1);
    bytes.copy(this.#kept, this.#keptLength, from, to);
    this.#keptLength += to - from;
    return this.#kept;
  }

  /** Goes on where it stopped; where the head starts is `base`. The place after it, or -1. */
  #scan(bytes: Buffer, base: number, to: number): number {
    const marks = this.#marks;
    let state = this.#state;
    let at = base + this.#at;
    while (at < to) {
      switch (state) {
        case STATUS:
          if (to - base < STATUS_LENGTH) {
            this.#startsAsStatus(bytes, base, to);
            // Looked at again when there is more of it.
            return -1;
          }
          this.#readStatus(bytes, base);
          at = base + STATUS_LENGTH;
          state = REASON;
          break;
        case REASON:
          if (at === base + STATUS_LENGTH && bytes[at] !== SPACE && bytes[at] !== CR)
            throw malformed('has a bad status');
          while (at < to && VALUE_BYTES[bytes[at]!] === 1) at++;
          if (at === to) break;
          if (bytes[at++] !== CR) throw malformed('has a control character in its status line');
          state = LINE_END;
          break;
        case LINE_END:
          if (bytes[at++] !== LF) throw malformed('has a bare CR');
          state = LINE;
          break;
        case LINE:
          if (bytes[at] === CR) {
            at++;
            state = HEAD_END;
            break;
          }
          if (NAME_BYTES[bytes[at]!] === 0) throw malformed('has a header line without a name');
          if (this.#fields === MOST_FIELDS) throw malformed(`has more than ${MOST_FIELDS} header lines`);
          marks[4 * this.#fields] = at - base;
          state = NAME;
          break;
        case NAME:
          while (at < to && NAME_BYTES[bytes[at]!] === 1) at++;
          if (at === to) break;
          if (bytes[at] !== COLON) throw malformed('has a bad header name');
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
          if (bytes[at] !== CR) throw malformed('has a control character in a header');
          const start = base + marks[4 * this.#fields + 2]!;
          let end = at++;
          while (end > start && (bytes[end - 1] === SPACE || bytes[end - 1] === TAB)) end--;
          marks[4 * this.#fields++ + 3] = end - base;
          state = LINE_END;
          break;
        }
        default:
          if (bytes[at++] !== LF) throw malformed('has a bare CR');
          return at;
      }
    }
    this.#state = state;
    this.#at = at - base;
    return -1;
  }

  /** What is there of the first line must be its beginning, so that whoever speaks another protocol is not waited for. */
  #startsAsStatus(bytes: Buffer, base: number, to: number): void {
    const length = Math.min(to - base, VERSION.length);
    for (let i = 0; i < length; i++) {
      if (bytes[base + i] !== VERSION[i]) throw malformed('does not begin as HTTP/1.x');
    }
  }

  #readStatus(bytes: Buffer, base: number): void {
    this.#startsAsStatus(bytes, base, base + STATUS_LENGTH);
    this.minor = bytes[base + 7]! - 48;
    if ((this.minor !== 0 && this.minor !== 1) || bytes[base + 8] !== SPACE) throw malformed('is not HTTP/1.0 or 1.1');
    let status = 0;
    for (let i = 9; i < STATUS_LENGTH; i++) {
      const digit = bytes[base + i]! - 48;
      if (digit < 0 || digit > 9) throw malformed('has a bad status');
      status = status * 10 + digit;
    }
    if (status < 100) throw malformed('has a bad status');
    this.status = status;
  }

  /** One text for the whole head, of which names and values are parts: cheaper than a text made for each. */
  #name(bytes: Buffer, base: number, end: number): void {
    const text = bytes.toString('latin1', base, end);
    const marks = this.#marks;
    const headers: string[] = [];
    for (let i = 0; i < 4 * this.#fields; i += 4) {
      headers.push(text.substring(marks[i]!, marks[i + 1]!), text.substring(marks[i + 2]!, marks[i + 3]!));
    }
    this.headers = headers;
  }
}
