import { isNamed } from '../wire/head-syntax.js';
import { MessageFraming, NOT_GIVEN } from '../wire/message-framing.js';
import { responseErrors } from './upstream-error.js';

const KEEP_ALIVE_TIMEOUT = /(?:^|[\s,;])timeout=(\d{1,9})(?=$|[\s,;])/i;

/** Where a response ends, whether its connection persists, and for how long the replica keeps it. */
export class ResponseFraming {
  /** Bytes of the body, `CHUNKED`, or `NOT_GIVEN`: then it ends with its connection. */
  length = 0;
  keepsAlive = true;
  /** How long the replica says that it keeps an idle connection; infinite when it does not say. */
  keepAliveMs = Number.POSITIVE_INFINITY;
  readonly #fields = new MessageFraming(responseErrors);
  #keepAlive = '';
  #keepAliveSaid = Number.POSITIVE_INFINITY;

  /** @param isHead whether the request was HEAD, whose response has no body */
  read(status: number, minor: number, headers: readonly string[], isHead: boolean): void {
    this.keepAliveMs = Number.POSITIVE_INFINITY;
    this.#fields.begin(minor);
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i]!;
      this.#fields.add(name, headers[i + 1]!);
      if (name.length === 10 && isNamed(name, 'keep-alive')) this.#keepAliveFor(headers[i + 1]!);
    }
    const length = this.#fields.bodyLength();
    this.length = isHead || status === 204 || status === 304 ? 0 : length;
    this.keepsAlive = this.#fields.persists && this.length !== NOT_GIVEN;
  }

  /** The field is parsed again only when it changes: a replica sends the same with every response. */
  #keepAliveFor(value: string): void {
    if (value !== this.#keepAlive) {
      this.#keepAlive = value;
      const seconds = KEEP_ALIVE_TIMEOUT.exec(value)?.[1];
      this.#keepAliveSaid = seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1000;
    }
    this.keepAliveMs = this.#keepAliveSaid;
  }
}
