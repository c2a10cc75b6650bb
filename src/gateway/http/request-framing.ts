import { connectionOptions, PERSISTS } from './connection-options.js';
import { isNamed } from './is-named.js';
import { notHttp } from './request-errors.js';
import type { RequestHead } from './request-head.js';

/** The length of a body that comes in chunks. */
export const CHUNKED = -1;

/** More digits would not be exact. */
const LENGTH = /^\d{1,15}$/;

/**
 * Where a request ends, what becomes of its connection, and what it expects first. Whatever somebody in front of us or behind us
 * might read in another way is refused: two lengths, a length and an encoding, an encoding other than chunked or in HTTP/1.0,
 * names that could be taken for these, and not exactly one host.
 */
export class RequestFraming {
  /** Bytes of the body, or `CHUNKED`. */
  length = 0;
  keepsAlive = true;
  /** What it wants to hear before it sends its body; null when nothing. */
  expects: string | null = null;
  #length: string | null = null;
  #encoding: string | null = null;
  #hosts = 0;
  #options = 0;
  #upgrades = false;

  read({ headers, minor }: Pick<RequestHead, 'headers' | 'minor'>): void {
    this.expects = null;
    this.#length = null;
    this.#encoding = null;
    this.#hosts = 0;
    this.#options = minor === 1 ? PERSISTS : 0;
    this.#upgrades = false;
    for (let i = 0; i < headers.length; i += 2) this.#field(headers[i]!, headers[i + 1]!);
    if (this.#hosts === 0 && minor === 1) throw notHttp('has no host');
    this.length = this.#bodyLength(minor);
    if (minor === 0) this.expects = null;
    // Who asks for another protocol gets his answer in this one. What he sends behind it may be in neither.
    this.keepsAlive = this.#options === PERSISTS && !(this.#upgrades && this.length === 0);
  }

  #bodyLength(minor: number): number {
    if (this.#encoding !== null) {
      if (this.#length !== null) throw notHttp('has a length and an encoding');
      if (minor === 0) throw notHttp('has an encoding, which HTTP/1.0 does not know');
      if (this.#encoding.toLowerCase() !== 'chunked') throw notHttp('has an encoding other than chunked');
      return CHUNKED;
    }
    if (this.#length === null) return 0;
    if (LENGTH.test(this.#length)) return Number(this.#length);
    throw notHttp('has a bad length');
  }

  /** Every line of every request comes through here: names are told apart by their length, and compared if they may be meant. */
  #field(name: string, value: string): void {
    switch (name.length) {
      case 4:
        if (isNamed(name, 'host') && ++this.#hosts > 1) throw notHttp('has more than one host');
        break;
      case 6:
        if (isNamed(name, 'expect')) this.expects = value;
        break;
      case 7:
        if (isNamed(name, 'upgrade')) this.#upgrades = true;
        break;
      case 10:
        if (isNamed(name, 'connection')) this.#options |= connectionOptions(value);
        break;
      case 14:
        if (isNamed(name, 'content-length')) {
          if (this.#length !== null) throw notHttp('has two lengths');
          this.#length = value;
        } else if (isNamed(name, 'content_length'))
          throw notHttp('has content_length, which could be taken for a length');
        break;
      case 17:
        if (isNamed(name, 'transfer-encoding')) {
          if (this.#encoding !== null) throw notHttp('has two encodings');
          this.#encoding = value;
        } else if (isNamed(name, 'transfer_encoding')) {
          throw notHttp('has transfer_encoding, which could be taken for an encoding');
        }
        break;
    }
  }
}

/** Headers behind a body that say where it ends come too late, and somebody might believe them. */
export function checkTrailers(headers: readonly string[]): void {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!;
    if (isNamed(name, 'content-length') || isNamed(name, 'transfer-encoding')) {
      throw notHttp('has a length or an encoding behind its body');
    }
  }
}
