import { CR, LF, SPACE } from '../../kernel/text/ascii.js';
import { HeadReader } from '../wire/head-reader.js';
import { beginsAs, VALUE_BYTES } from '../wire/head-syntax.js';
import { responseErrors } from './upstream-error.js';

/** A response with more fields than this is malformed. */
const MOST_FIELDS = 256;
const VERSION = Buffer.from('HTTP/1.');
/** `HTTP/1.1 200` */
const STATUS_LENGTH = 12;

/** Reads the head of a response. */
export class ResponseHead extends HeadReader {
  /** Of the head read last. */
  status = 0;
  /** 0 for HTTP/1.0. */
  minor = 0;

  constructor(limit: number) {
    super(limit, MOST_FIELDS, responseErrors);
  }

  protected override start(bytes: Buffer, base: number, to: number): number {
    // Another protocol is refused at its first byte, because its first line may never end.
    if (!beginsAs(VERSION, bytes, base, to)) throw this.errors.malformed('does not start with HTTP/1.');
    if (to - base <= STATUS_LENGTH) return -1;
    this.#readStatus(bytes, base);
    let at = base + STATUS_LENGTH;
    if (bytes[at] !== SPACE && bytes[at] !== CR) throw this.errors.malformed('has an invalid status');
    while (at < to && VALUE_BYTES[bytes[at]!] === 1) at++;
    if (at === to) return -1;
    if (bytes[at++] !== CR) throw this.errors.malformed('has a control character in its status line');
    if (at === to) return -1;
    if (bytes[at++] !== LF) throw this.errors.malformed('has a bare CR');
    return at;
  }

  protected override named(): void {}

  #readStatus(bytes: Buffer, base: number): void {
    this.minor = bytes[base + 7]! - 48;
    if ((this.minor !== 0 && this.minor !== 1) || bytes[base + 8] !== SPACE) {
      throw this.errors.malformed('is neither HTTP/1.1 nor HTTP/1.0');
    }
    let status = 0;
    for (let i = 9; i < STATUS_LENGTH; i++) {
      const digit = bytes[base + i]! - 48;
      if (digit < 0 || digit > 9) throw this.errors.malformed('has an invalid status');
      status = status * 10 + digit;
    }
    if (status < 100) throw this.errors.malformed('has an invalid status');
    this.status = status;
  }
}
