import { connectionOptions, PERSISTS } from '../http/connection-options.js';
import { isNamed } from '../http/is-named.js';
import { malformed } from './upstream-error.js';

/** Lengths that are none. */
export const CHUNKED = -1;
export const UNTIL_CLOSE = -2;

/** More digits would not be exact. */
const LENGTH = /^\d{1,15}$/;
const KEEP_ALIVE_TIMEOUT = /(?:^|[\s,;])timeout=(\d{1,9})(?=$|[\s,;])/i;

/**
 * Where a response ends and whether its connection lives on, by RFC 9112, section 6.3. Whatever two readers could understand in
 * two ways is malformed: two lengths, a length and an encoding, an encoding other than chunked, an encoding in HTTP/1.0.
 */
export class Framing {
  /** Bytes of the body, or `CHUNKED`, or `UNTIL_CLOSE`. */
  length = 0;
  keepsAlive = true;
  /** How long the replica says that it keeps an idle connection; infinite when it does not say. */
  keepAliveMs = Number.POSITIVE_INFINITY;
  /** What version and `connection` say. */
  #options = 0;
  #keepAlive = '';
  #keepAliveSaid = Number.POSITIVE_INFINITY;

  read(status: number, minor: number, headers: readonly string[], isHead: boolean): void {
    this.#options = minor === 1 ? PERSISTS : 0;
    this.keepAliveMs = Number.POSITIVE_INFINITY;
    let length: string | null = null;
    let encoding: string | null = null;
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i]!;
      switch (name.length) {
        case 10:
          if (isNamed(name, 'connection')) this.#options |= connectionOptions(headers[i + 1]!);
          else if (isNamed(name, 'keep-alive')) this.#keepAliveFor(headers[i + 1]!);
          break;
        case 14:
          if (!isNamed(name, 'content-length')) break;
          if (length !== null) throw malformed('has two lengths');
          length = headers[i + 1]!;
          break;
        case 17:
          if (!isNamed(name, 'transfer-encoding')) break;
          if (encoding !== null) throw malformed('has two encodings');
          encoding = headers[i + 1]!;
          break;
      }
    }
    if (encoding !== null) {
      if (length !== null) throw malformed('has a length and an encoding');
      if (minor === 0 || encoding.toLowerCase() !== 'chunked') throw malformed('has an encoding other than chunked');
    }
    if (length !== null && !LENGTH.test(length)) throw malformed('has a bad length');
    if (isHead || status === 204 || status === 304) this.length = 0;
    else if (encoding !== null) this.length = CHUNKED;
    else if (length !== null) this.length = Number(length);
    else this.length = UNTIL_CLOSE;
    this.keepsAlive = this.#options === PERSISTS && this.length !== UNTIL_CLOSE;
  }

  /** A replica says the same in every response. */
  #keepAliveFor(value: string): void {
    if (value !== this.#keepAlive) {
      this.#keepAlive = value;
      const seconds = KEEP_ALIVE_TIMEOUT.exec(value)?.[1];
      this.#keepAliveSaid = seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1000;
    }
    this.keepAliveMs = this.#keepAliveSaid;
  }
}
