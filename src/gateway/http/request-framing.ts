import { isNamed } from '../wire/field-names.js';
import { MessageFraming, NOT_GIVEN } from '../wire/message-framing.js';
import { notHttp, requestErrors } from './request-errors.js';
import type { RequestHead } from './request-head.js';

/**
 * Where a request ends, whether its connection persists, and what it expects before its body. Beyond the rules of every
 * message, names that a reader in front or behind could take for framing fields are refused, and so is a number of
 * hosts other than one.
 */
export class RequestFraming {
  /** Bytes of the body, or `CHUNKED`. */
  length = 0;
  keepsAlive = true;
  /** The value of `expect`; null without one. */
  expects: string | null = null;
  readonly #fields = new MessageFraming(requestErrors);
  #hosts = 0;
  #upgrades = false;

  read({ headers, minor }: Pick<RequestHead, 'headers' | 'minor'>): void {
    this.expects = null;
    this.#hosts = 0;
    this.#upgrades = false;
    this.#fields.begin(minor);
    for (let i = 0; i < headers.length; i += 2) this.#add(headers[i]!, headers[i + 1]!);
    if (this.#hosts === 0 && minor === 1) throw notHttp('has no host header');
    const length = this.#fields.bodyLength();
    this.length = length === NOT_GIVEN ? 0 : length;
    if (minor === 0) this.expects = null;
    // An upgrade gets an HTTP/1.1 response. What the client sends behind such a request may be in the other protocol.
    this.keepsAlive = this.#fields.persists && !(this.#upgrades && this.length === 0);
  }

  #add(name: string, value: string): void {
    switch (name.length) {
      case 4:
        if (isNamed(name, 'host') && ++this.#hosts > 1) throw notHttp('has more than one host header');
        break;
      case 6:
        if (isNamed(name, 'expect')) this.expects = value;
        break;
      case 7:
        if (isNamed(name, 'upgrade')) this.#upgrades = true;
        break;
      case 14:
        if (isNamed(name, 'content_length')) throw notHttp('has content_length, which could be read as content-length');
        break;
      case 17:
        if (isNamed(name, 'transfer_encoding')) {
          throw notHttp('has transfer_encoding, which could be read as transfer-encoding');
        }
        break;
    }
    this.#fields.add(name, value);
  }
}

/** Framing fields in trailers come too late, and another reader might apply them. */
export function checkTrailers(headers: readonly string[]): void {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!;
    if (isNamed(name, 'content-length') || isNamed(name, 'transfer-encoding')) {
      throw notHttp('has content-length or transfer-encoding in its trailers');
    }
  }
}
