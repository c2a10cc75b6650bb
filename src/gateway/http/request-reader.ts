import { ChunkedBody, MOST_READ } from './chunked-body.js';
import { CR, LF } from './field-bytes.js';
import { requestErrors } from './request-errors.js';
import { CHUNKED, checkTrailers, RequestFraming } from './request-framing.js';
import { RequestHead } from './request-head.js';

/** Who hears what a reader finds. */
export interface RequestSink {
  /** Whether anything more may be told just now. */
  readonly isReady: boolean;
  /** @param whole all of the body, when it came together with the head; else pieces and the end follow. All to be used at once */
  onHead(head: RequestHead, framing: RequestFraming, whole: Buffer | null): void;
  onPiece(piece: Buffer): void;
  onEnd(): void;
}

/** What all connections of a port read with, as long as heads come in one piece. */
export class SharedReader {
  readonly head: RequestHead;
  readonly framing = new RequestFraming();

  constructor(readonly headerBytes: number) {
    this.head = new RequestHead(headerBytes);
  }
}

/** Bytes of chunk extensions in a body, which nobody uses. */
const MOST_EXTENSIONS = 16_384;
const NOTHING = Buffer.alloc(0);

/** Finds one request after the other in what a connection brings. What is no request is thrown as an ApiError. */
export class RequestReader {
  /** A head has begun and has not ended. */
  isInHead = false;
  /** The same of a body. */
  isInBody = false;
  readonly #sink: RequestSink;
  readonly #shared: SharedReader;
  /** For heads that come in pieces, and trailers. */
  #own: RequestHead | null = null;
  #chunks: ChunkedBody | null = null;
  #isChunked = false;
  #left = 0;

  constructor(shared: SharedReader, sink: RequestSink) {
    this.#shared = shared;
    this.#sink = sink;
  }

  /** Goes through what came, for as long as the sink is ready. Returns where it stopped. */
  read(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length && this.#sink.isReady) {
      at = this.isInBody ? this.#readBody(bytes, at) : this.#readHead(bytes, at);
    }
    return at;
  }

  #readHead(bytes: Buffer, start: number): number {
    const head = this.isInHead ? this.#own! : this.#shared.head;
    let from = start;
    if (!this.isInHead) {
      // Some clients send an empty line after a body: nothing has begun by that.
      while (bytes[from] === CR && bytes[from + 1] === LF) from += 2;
      if (from === bytes.length) return from;
      head.begin(false);
    }
    const end = head.read(bytes, from, bytes.length);
    if (end < 0) {
      if (!this.isInHead) this.#keepHead(bytes, from);
      return bytes.length;
    }
    this.isInHead = false;
    const { framing } = this.#shared;
    framing.read(head);
    const { length } = framing;
    if (length >= 0 && end + length <= bytes.length) {
      this.#sink.onHead(head, framing, length === 0 ? NOTHING : bytes.subarray(end, end + length));
      return end + length;
    }
    this.isInBody = true;
    this.#isChunked = length === CHUNKED;
    this.#left = length;
    if (this.#isChunked) this.#chunked().begin();
    this.#sink.onHead(head, framing, null);
    return end;
  }

  /** A head that goes on in the next piece is read by a reader of this connection. */
  #keepHead(bytes: Buffer, from: number): void {
    const own = this.#ownHead();
    own.begin(false);
    own.read(bytes, from, bytes.length);
    this.isInHead = true;
  }

  #readBody(bytes: Buffer, from: number): number {
    if (this.#isChunked) return this.#readChunks(bytes, from);
    const end = Math.min(bytes.length, from + this.#left);
    this.#left -= end - from;
    if (this.#left === 0) this.isInBody = false;
    this.#sink.onPiece(bytes.subarray(from, end));
    if (this.#left === 0) this.#sink.onEnd();
    return end;
  }

  #readChunks(bytes: Buffer, from: number): number {
    const chunks = this.#chunked();
    const end = chunks.read(bytes, from, Math.min(bytes.length, from + MOST_READ));
    if (chunks.isComplete) {
      checkTrailers(this.#ownHead().headers);
      this.isInBody = false;
    }
    const data = chunks.data(bytes);
    if (data !== null) this.#sink.onPiece(data);
    if (chunks.isComplete) this.#sink.onEnd();
    return end;
  }

  #ownHead(): RequestHead {
    this.#own ??= new RequestHead(this.#shared.headerBytes);
    return this.#own;
  }

  #chunked(): ChunkedBody {
    this.#chunks ??= new ChunkedBody(MOST_EXTENSIONS, this.#ownHead(), requestErrors);
    return this.#chunks;
  }
}
