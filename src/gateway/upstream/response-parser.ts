import { ChunkedBody } from '../wire/chunked-body.js';
import { CHUNKED, NOT_GIVEN } from '../wire/message-framing.js';
import { ResponseFraming } from './response-framing.js';
import { ResponseHead } from './response-head.js';
import { cut, malformed, responseErrors } from './upstream-error.js';

/** 1xx responses before the final one; no server needs more. */
const MOST_INTERIM = 16;

/** Receives the parts of responses. */
export interface ResponseSink {
  onHeaders(status: number, headers: string[]): void;
  /** @param isLast nothing but `onEnd` follows */
  onData(data: Buffer, isLast: boolean): void;
  onEnd(): void;
}

const HEAD = 0;
const LENGTH = 1;
const CHUNKS = 2;
const REST = 3;
const DONE = 4;

/**
 * Splits the bytes of a connection into responses. Its state is consistent whenever it calls the sink: the head is
 * passed on when its framing is known, data once per read, the end after the last data.
 */
export class ResponseParser {
  /** Whether any byte of the present response has been received. */
  hasBegun = false;
  /** Whether the connection may be used again: nothing follows the response, and it allows it. */
  isReusable = false;
  /** Whether bytes followed the response that belong to none. */
  hasExcess = false;
  readonly #sink: ResponseSink;
  readonly #head: ResponseHead;
  readonly #framing = new ResponseFraming();
  readonly #chunks: ChunkedBody;
  #stage = DONE;
  #isHead = false;
  #interim = 0;
  #left = 0;

  constructor(headLimit: number, sink: ResponseSink) {
    this.#sink = sink;
    this.#head = new ResponseHead(headLimit);
    this.#chunks = new ChunkedBody(headLimit, this.#head, responseErrors);
  }

  get isDone(): boolean {
    return this.#stage === DONE;
  }

  /** How long the replica says that it keeps an idle connection. */
  get keepAliveMs(): number {
    return this.#framing.keepAliveMs;
  }

  /**
   * Expects a response. @param isHead whether the request is HEAD: its response has no body, whatever its fields say
   */
  begin(isHead: boolean): void {
    this.hasBegun = false;
    this.isReusable = false;
    this.#isHead = isHead;
    this.#interim = 0;
    this.#stage = HEAD;
    this.#head.begin(false);
  }

  /** Reads bytes and keeps none of them. Throws when they are not a response. */
  read(bytes: Buffer, to: number): void {
    this.hasBegun = true;
    let at = 0;
    while (this.#stage === HEAD) {
      if (at === to) return;
      at = this.#head.read(bytes, at, to);
      if (at < 0) return;
      this.#startBody();
    }
    if (this.#stage === LENGTH) this.#readLength(bytes, at, to);
    else if (this.#stage === CHUNKS) this.#readChunks(bytes, at, to);
    else if (at < to) this.#sink.onData(copied(bytes, at, to), false);
  }

  /** The connection has ended. Throws when that does not complete the response. */
  end(): void {
    if (this.#stage !== REST) throw cut();
    this.#stage = DONE;
    this.#sink.onEnd();
  }

  #startBody(): void {
    const { status, minor, headers } = this.#head;
    if (status < 200) {
      if (status === 101) throw malformed('switches protocols');
      if (++this.#interim > MOST_INTERIM) throw malformed('comes after too many 1xx responses');
      this.#head.begin(false);
      return;
    }
    this.#framing.read(status, minor, headers, this.#isHead);
    const { length } = this.#framing;
    if (length === CHUNKED) {
      this.#stage = CHUNKS;
      this.#chunks.begin();
    } else if (length === NOT_GIVEN) this.#stage = REST;
    else {
      this.#stage = LENGTH;
      this.#left = length;
    }
    this.#sink.onHeaders(status, headers);
  }

  #readLength(bytes: Buffer, at: number, to: number): void {
    const end = Math.min(to, at + this.#left);
    this.#left -= end - at;
    if (end > at) this.#sink.onData(copied(bytes, at, end), this.#left === 0);
    if (this.#left === 0) this.#finish(end === to);
  }

  #readChunks(bytes: Buffer, at: number, to: number): void {
    const chunks = this.#chunks;
    const end = chunks.read(bytes, at, to);
    const data = chunks.data(bytes);
    if (data !== null) this.#sink.onData(data, chunks.isComplete);
    if (chunks.isComplete) this.#finish(end === to);
  }

  /** @param isExact whether no bytes follow the response */
  #finish(isExact: boolean): void {
    this.#stage = DONE;
    this.hasExcess = !isExact;
    this.isReusable = isExact && this.#framing.keepsAlive;
    this.#sink.onEnd();
  }
}

/** The next read overwrites the buffer. */
function copied(bytes: Buffer, from: number, to: number): Buffer {
  const copy = Buffer.allocUnsafe(to - from);
  bytes.copy(copy, 0, from, to);
  return copy;
}
