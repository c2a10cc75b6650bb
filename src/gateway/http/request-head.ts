import { CR, LF, SLASH, SPACE } from '../../kernel/text/ascii.js';
import { beginsAs, NAME_BYTES, TARGET_BYTES } from '../wire/field-bytes.js';
import { HeadReader } from '../wire/head-reader.js';
import { requestErrors } from './request-errors.js';

/** The longest registered method has 17 letters. */
const MOST_METHOD = 32;
/** What follows the target. */
const VERSION = Buffer.from(' HTTP/1.');
/** ` HTTP/1.1` and the end of the line. */
const REST_LENGTH = 11;
/** Targets other than a path: `*`, or the absolute URL of a request to a proxy, which the handler refuses. */
const OTHER_TARGET = /^(?:\*|[a-z][a-z0-9+.-]*:\/\/.*)$/i;

/** Reads the head of a request. The number of its fields is limited by its size alone. */
export class RequestHead extends HeadReader {
  /** Of the head read last. */
  method = '';
  target = '';
  /** 0 for HTTP/1.0. */
  minor = 0;
  /** Only line ends have been received: no request has begun. */
  isBlank = true;
  /** Where they are, from the first byte of the head. */
  #methodStart = 0;
  #targetStart = 0;
  #targetEnd = 0;

  constructor(limit: number) {
    super(limit, Number.POSITIVE_INFINITY, requestErrors);
  }

  protected override start(bytes: Buffer, base: number, to: number): number {
    let at = base;
    // Some clients send an empty line after a body.
    while (at + 1 < to && bytes[at] === CR && bytes[at + 1] === LF) at += 2;
    this.isBlank = at === to || (at + 1 === to && bytes[at] === CR);
    if (this.isBlank) return -1;
    this.#methodStart = at - base;
    const methodStart = at;
    while (at < to && NAME_BYTES[bytes[at]!] === 1) at++;
    if (at - methodStart > MOST_METHOD) throw this.errors.malformed('has an invalid method');
    if (at === to) return -1;
    if (at === methodStart || bytes[at] !== SPACE) throw this.errors.malformed('has an invalid method');
    const targetStart = ++at;
    this.#targetStart = at - base;
    while (at < to && TARGET_BYTES[bytes[at]!] === 1) at++;
    if (at === to) return -1;
    if (at === targetStart || bytes[at] !== SPACE) throw this.errors.malformed('has an invalid target');
    this.#targetEnd = at - base;
    return this.#version(bytes, at, to);
  }

  protected override named(text: string): void {
    this.method = text.substring(this.#methodStart, this.#targetStart - 1);
    this.target = text.substring(this.#targetStart, this.#targetEnd);
    if (this.target.charCodeAt(0) === SLASH || this.method === 'CONNECT') return;
    if (!OTHER_TARGET.test(this.target)) throw this.errors.malformed('has an invalid target');
  }

  /** Where the first line ends; -1 while it is incomplete, if what is there is the start of a version. */
  #version(bytes: Buffer, from: number, to: number): number {
    if (!beginsAs(VERSION, bytes, from, to)) throw this.errors.malformed('is neither HTTP/1.1 nor HTTP/1.0');
    if (to - from < REST_LENGTH) return -1;
    this.minor = bytes[from + 8]! - 48;
    if (this.minor !== 0 && this.minor !== 1) throw this.errors.malformed('is neither HTTP/1.1 nor HTTP/1.0');
    if (bytes[from + 9] !== CR || bytes[from + 10] !== LF) throw this.errors.malformed('has an invalid request line');
    return from + REST_LENGTH;
  }
}
