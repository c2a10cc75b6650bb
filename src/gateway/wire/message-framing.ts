import { isNamed } from './head-syntax.js';
import type { MessageErrors } from './message-errors.js';

/** Body lengths that are not a number of bytes: in chunks, and not given by any field. */
export const CHUNKED = -1;
export const NOT_GIVEN = -2;

/** Whole numbers that are exact; a sign, a list or a space is not one. */
const LENGTH = /^\d{1,15}$/;

const CLOSES = 1;
const PERSISTS = 2;

/**
 * The fields that say where a message ends and whether its connection persists (RFC 9112, sections 6 and 9), for
 * requests and responses alike. What two readers could understand in two ways is malformed: more than one length, a
 * length together with an encoding, an encoding other than chunked, an encoding in HTTP/1.0.
 */
export class MessageFraming {
  readonly #errors: MessageErrors;
  #minor = 1;
  #length: string | null = null;
  #encoding: string | null = null;
  #options = 0;

  constructor(errors: MessageErrors) {
    this.#errors = errors;
  }

  /** @param minor 0 for HTTP/1.0 */
  begin(minor: number): void {
    this.#minor = minor;
    this.#length = null;
    this.#encoding = null;
    this.#options = minor === 1 ? PERSISTS : 0;
  }

  /** Adds a header field. Names are compared by length first, because this runs for every field of every message. */
  add(name: string, value: string): void {
    switch (name.length) {
      case 10:
        if (isNamed(name, 'connection')) this.#options |= connectionOptions(value);
        break;
      case 14:
        if (!isNamed(name, 'content-length')) break;
        if (this.#length !== null) throw this.#errors.malformed('has more than one content-length');
        this.#length = value;
        break;
      case 17:
        if (!isNamed(name, 'transfer-encoding')) break;
        if (this.#encoding !== null) throw this.#errors.malformed('has more than one transfer-encoding');
        this.#encoding = value;
        break;
    }
  }

  /** Bytes of the body, `CHUNKED` or `NOT_GIVEN`. */
  bodyLength(): number {
    const length = this.#length;
    if (this.#encoding !== null) {
      if (length !== null) throw this.#errors.malformed('has both content-length and transfer-encoding');
      if (this.#minor === 0) throw this.#errors.malformed('has a transfer-encoding in HTTP/1.0');
      if (this.#encoding.toLowerCase() !== 'chunked') {
        throw this.#errors.malformed('has a transfer-encoding other than chunked');
      }
      return CHUNKED;
    }
    if (length === null) return NOT_GIVEN;
    if (!LENGTH.test(length)) throw this.#errors.malformed('has an invalid content-length');
    return Number(length);
  }

  /** Whether version and `connection` let the connection persist. */
  get persists(): boolean {
    return this.#options === PERSISTS;
  }
}

function connectionOptions(value: string): number {
  if (value === 'keep-alive') return PERSISTS;
  if (value === 'close') return CLOSES;
  let options = 0;
  for (const part of value.split(',')) {
    const one = part.trim().toLowerCase();
    if (one === 'close') options |= CLOSES;
    else if (one === 'keep-alive') options |= PERSISTS;
  }
  return options;
}
