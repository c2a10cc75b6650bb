import { CR, LF, SLASH, SPACE } from '../../kernel/text/ascii.js';
import { HeadReader } from '../wire/head-reader.js';
import { beginsAs, isNamed, NAME_BYTES, TARGET_BYTES } from '../wire/head-syntax.js';
import { MessageFraming, NOT_GIVEN } from '../wire/message-framing.js';
import { notHttp, requestErrors } from './request-errors.js';

/** The longest registered method has 17 letters. */
const MOST_METHOD = 32;
/** What follows the target. */
const VERSION = Buffer.from(' HTTP/1.');
/** ` HTTP/1.1` and the end of the line. */
const REST_LENGTH = 11;
/** Targets other than a path: `*`, or the absolute URL of a request to a proxy, which the handler refuses. */
const OTHER_TARGET = /^(?:\*|[a-z][a-z0-9+.-]*:\/\/.*)$/i;

/**
 * Reads the head of a request: its first line and its fields, then where the request ends, whether its connection persists, and
 * what it expects before its body. The number of fields is limited by the size of the head alone. Beyond the rules of every
 * message, names that a reader in front or behind could take for framing fields are refused, and so is a number of hosts
 * other than one.
 */
export class RequestHead extends HeadReader {
  /** Of the head read last. */
  method = '';
  target = '';
  /** 0 for HTTP/1.0. */
  minor = 0;
  /** Only line ends have been received: no request has begun. */
  isBlank = true;
  /** After `frame`: bytes of the body, or `CHUNKED`. */
  length = 0;
  keepsAlive = true;
  /** The value of `expect`; null without one. */
  expects: string | null = null;
  readonly #framing = new MessageFraming(requestErrors);
  #hosts = 0;
  #upgrades = false;
  /** Where method and target are, from the first byte of the head. */
  #methodStart = 0;
  #targetStart = 0;
  #targetEnd = 0;

  constructor(limit: number) {
    super(limit, Number.POSITIVE_INFINITY, requestErrors);
  }

  /** Applies the fields of a head that has been read. */
  frame(): void {
    const { headers, minor } = this;
    this.expects = null;
    this.#hosts = 0;
    this.#upgrades = false;
    this.#framing.begin(minor);
    for (let i = 0; i < headers.length; i += 2) this.#addField(headers[i]!, headers[i + 1]!);
    if (this.#hosts === 0 && minor === 1) throw notHttp('has no host header');
    const length = this.#framing.bodyLength();
    this.length = length === NOT_GIVEN ? 0 : length;
    if (minor === 0) this.expects = null;
    // An upgrade gets an HTTP/1.1 response. What the client sends behind such a request may be in the other protocol.
    this.keepsAlive = this.#framing.persists && !(this.#upgrades && this.length === 0);
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

  #addField(name: string, value: string): void {
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
    this.#framing.add(name, value);
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
