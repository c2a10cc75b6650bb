import { CR, LF, SPACE, VALUE_BYTES } from '../http/field-bytes.js';
import { HeadReader } from '../http/head-reader.js';
import { respondErrors } from './upstream-error.js';

/** More lines than this are no head but an attack. */
const MOST_FIELDS = 256;
const VERSION = [...Buffer.from('HTTP/1.')];
/** `HTTP/1.1 200` */
const STATUS_LENGTH = 12;

/** Reads the head of a response. */
export class ResponseHead extends HeadReader {
  /** Of the head read last. */
  status = 0;
  /** 0 for HTTP/1.0. */
  minor = 0;

  constructor(limit: number) {
    super(limit, MOST_FIELDS, respondErrors);
  }

  protected override start(bytes: Buffer, base: number, to: number): number {
    // Whoever speaks another protocol is not waited for.
    this.#startsAsStatus(bytes, base, to);
    if (to - base <= STATUS_LENGTH) return -1;
    this.#readStatus(bytes, base);
    let at = base + STATUS_LENGTH;
    if (bytes[at] !== SPACE && bytes[at] !== CR) throw this.errors.malformed('has a bad status');
    while (at < to && VALUE_BYTES[bytes[at]!] === 1) at++;
    if (at === to) return -1;
    if (bytes[at++] !== CR) throw this.errors.malformed('has a control character in its status line');
    if (at === to) return -1;
    if (bytes[at++] !== LF) throw this.errors.malformed('has a bare CR');
    return at;
  }

  protected override named(): void {}

  /** What is there of the first line must be its beginning. */
  #startsAsStatus(bytes: Buffer, base: number, to: number): void {
    const length = Math.min(to - base, VERSION.length);
    for (let i = 0; i < length; i++) {
      if (bytes[base + i] !== VERSION[i]) throw this.errors.malformed('does not begin as HTTP/1.x');
    }
  }

  #readStatus(bytes: Buffer, base: number): void {
    this.minor = bytes[base + 7]! - 48;
    if ((this.minor !== 0 && this.minor !== 1) || bytes[base + 8] !== SPACE) {
      throw this.errors.malformed('is not HTTP/1.0 or 1.1');
    }
    let status = 0;
    for (let i = 9; i < STATUS_LENGTH; i++) {
      const digit = bytes[base + i]! - 48;
      if (digit < 0 || digit > 9) throw this.errors.malformed('has a bad status');
      status = status * 10 + digit;
    }
    if (status < 100) throw this.errors.malformed('has a bad status');
    this.status = status;
  }
}
