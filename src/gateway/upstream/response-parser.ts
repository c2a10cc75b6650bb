import { ChunkedBody } from '../http/chunked-body.js';
import { CHUNKED, Framing, UNTIL_CLOSE } from './framing.js';
import { ResponseHead } from './response-head.js';
import { cut, malformed, respondErrors } from './upstream-error.js';

/** Answers of the kind `100 Continue` before the one that counts: nobody needs more. */
const MOST_INTERIM = 16;

/** Who hears what a parser finds. */
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
 * Finds one response after the other in what a connection brings. It calls nobody's code while it is not sure of its place: a head
 * is told when its framing is known, data once per read, the end after the last of it.
 */
export class ResponseParser {
  /** Whether anything of the present answer has come. */
  hasBegun = false;
  /** Whether the connection may be used again: the response ended exactly, and allowed it. */
  isReusable = false;
  readonly #sink: ResponseSink;
  readonly #head: ResponseHead;
  readonly #framing = new Framing();
  readonly #chunks: ChunkedBody;
  #stage = DONE;
  #isHead = false;
  #interim = 0;
  #left = 0;

  constructor(headLimit: number, sink: ResponseSink) {
    this.#sink = sink;
    this.#head = new ResponseHead(headLimit);
    this.#chunks = new ChunkedBody(headLimit, this.#head, respondErrors);
  }

  get isDone(): boolean {
    return this.#stage === DONE;
  }

  /** How long the replica says that it keeps an idle connection. */
  get keepAliveMs(): number {
    return this.#framing.keepAliveMs;
  }

  /** A request is being sent. @param isHead its response has no body, whatever it says */
  begin(isHead: boolean): void {
    this.hasBegun = false;
    this.isReusable = false;
    this.#isHead = isHead;
    this.#interim = 0;
    this.#stage = HEAD;
    this.#head.begin(false);
  }

  /** What the connection brought, of which nothing is kept. Throws when it is no response. */
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

  /** The connection brings no more. Throws when the response has not ended by that. */
  end(): void {
    if (this.#stage !== REST) throw cut();
    this.#stage = DONE;
    this.#sink.onEnd();
  }

  #startBody(): void {
    const { status, minor, headers } = this.#head;
    if (status < 200) {
      if (status === 101) throw malformed('changes the protocol');
      if (++this.#interim > MOST_INTERIM) throw malformed('does not come to the point');
      this.#head.begin(false);
      return;
    }
    this.#framing.read(status, minor, headers, this.#isHead);
    const { length } = this.#framing;
    if (length === CHUNKED) {
      this.#stage = CHUNKS;
      this.#chunks.begin();
    } else if (length === UNTIL_CLOSE) this.#stage = REST;
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

  /** @param isExact nothing came after the response that nobody asked for */
  #finish(isExact: boolean): void {
    this.#stage = DONE;
    this.isReusable = isExact && this.#framing.keepsAlive;
    this.#sink.onEnd();
  }
}

/** What was read lies in a buffer that the next read overwrites. */
function copied(bytes: Buffer, from: number, to: number): Buffer {
  const copy = Buffer.allocUnsafe(to - from);
  bytes.copy(copy, 0, from, to);
  return copy;
}
