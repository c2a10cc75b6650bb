import { CR, LF, SEMICOLON, SPACE, TAB } from '../../kernel/text/ascii.js';
import type { HeadReader } from './head-reader.js';
import { VALUE_BYTES } from './head-syntax.js';
import type { MessageErrors } from './message-errors.js';

/** The most bytes that may be read at once. */
export const MOST_READ = 65_536;
/** `1 CR LF x CR LF`: the shortest chunk. */
const SMALLEST = 6;
/** Leading zeros of a size are allowed, but not without end. */
const MOST_DIGITS = 128;
/** Larger sizes would not be exact. */
const TOO_LARGE = 2 ** 52;

const HEX = new Int8Array(256).fill(-1);
for (let digit = 0; digit < 16; digit++) {
  HEX[digit.toString(16).charCodeAt(0)] = digit;
  HEX[digit.toString(16).toUpperCase().charCodeAt(0)] = digit;
}

const SIZE = 0;
const AFTER_SIZE = 1;
const BEFORE_EXTENSION = 2;
const EXTENSION = 3;
const SIZE_END = 4;
const DATA = 5;
const DATA_CR = 6;
const DATA_LF = 7;
const TRAILERS = 8;

/** Where the data of the chunks in the last read lies. Shared by all bodies: it is used before the next read. */
const starts = new Int32Array(MOST_READ / SMALLEST + 2);
const ends = new Int32Array(MOST_READ / SMALLEST + 2);

/** Reads a chunked body, however it is cut into pieces. Extensions and trailers are checked, bounded and dropped. */
export class ChunkedBody {
  isComplete = false;
  readonly #mostExtensions: number;
  readonly #head: HeadReader;
  readonly #errors: MessageErrors;
  #state = SIZE;
  #size = 0;
  #digits = 0;
  #left = 0;
  /** Bytes of extensions so far. */
  #extensions = 0;
  #pieces = 0;
  #length = 0;

  /**
   * @param mostExtensions bytes of chunk extensions in a whole body
   * @param head reads the trailers
   */
  constructor(mostExtensions: number, head: HeadReader, errors: MessageErrors) {
    this.#mostExtensions = mostExtensions;
    this.#head = head;
    this.#errors = errors;
  }

  begin(): void {
    this.isComplete = false;
    this.#state = SIZE;
    this.#size = 0;
    this.#digits = 0;
    this.#extensions = 0;
  }

  /** Reads at most `MOST_READ` bytes. Returns where the body ends, or `to` when it goes on. */
  read(bytes: Buffer, from: number, to: number): number {
    this.#pieces = 0;
    this.#length = 0;
    let state = this.#state;
    let at = from;
    while (at < to) {
      switch (state) {
        case SIZE: {
          const digit = HEX[bytes[at]!]!;
          if (digit >= 0) {
            this.#size = this.#size * 16 + digit;
            if (++this.#digits > MOST_DIGITS || this.#size >= TOO_LARGE) {
              throw this.#errors.malformed('has an invalid chunk size');
            }
            at++;
          } else if (this.#digits === 0) throw this.#errors.malformed('has an invalid chunk size');
          else state = AFTER_SIZE;
          break;
        }
        case AFTER_SIZE:
          state = bytes[at] === CR ? SIZE_END : BEFORE_EXTENSION;
          if (state === SIZE_END) at++;
          break;
        case BEFORE_EXTENSION: {
          const byte = bytes[at++];
          if (byte === SEMICOLON) state = EXTENSION;
          else if (byte !== SPACE && byte !== TAB) throw this.#errors.malformed('has an invalid chunk size');
          this.#extended(1);
          break;
        }
        case EXTENSION: {
          const start = at;
          while (at < to && VALUE_BYTES[bytes[at]!] === 1) at++;
          this.#extended(at - start);
          if (at === to) break;
          if (bytes[at++] !== CR) throw this.#errors.malformed('has a control character in a chunk extension');
          state = SIZE_END;
          break;
        }
        case SIZE_END:
          if (bytes[at++] !== LF) throw this.#errors.malformed('has a bare CR');
          this.#left = this.#size;
          this.#size = 0;
          this.#digits = 0;
          state = this.#left > 0 ? DATA : TRAILERS;
          if (state === TRAILERS) this.#head.begin(true);
          break;
        case DATA: {
          const length = Math.min(to - at, this.#left);
          starts[this.#pieces] = at;
          at += length;
          ends[this.#pieces++] = at;
          this.#length += length;
          this.#left -= length;
          if (this.#left === 0) state = DATA_CR;
          break;
        }
        case DATA_CR:
          if (bytes[at++] !== CR) throw this.#errors.malformed('has a chunk longer than its size');
          state = DATA_LF;
          break;
        case DATA_LF:
          if (bytes[at++] !== LF) throw this.#errors.malformed('has a chunk longer than its size');
          state = SIZE;
          break;
        default: {
          const end = this.#head.read(bytes, at, to);
          this.#state = state;
          if (end < 0) return to;
          this.isComplete = true;
          return end;
        }
      }
    }
    this.#state = state;
    return to;
  }

  #extended(bytes: number): void {
    this.#extensions += bytes;
    if (this.#extensions > this.#mostExtensions) {
      throw this.#errors.tooLarge('chunk extensions', this.#mostExtensions);
    }
  }

  /** A copy of the data of the last read, all chunks in one; null when there was none. */
  data(bytes: Buffer): Buffer | null {
    if (this.#pieces === 0) return null;
    const data = Buffer.allocUnsafe(this.#length);
    for (let i = 0, at = 0; i < this.#pieces; i++) at += bytes.copy(data, at, starts[i]!, ends[i]!);
    return data;
  }
}
