import { CR, LF } from '../../kernel/text/ascii.js';
import { ChunkedBody, MOST_READ } from '../wire/chunked-body.js';
import { CHUNKED } from '../wire/message-framing.js';
import { requestErrors } from './request-errors.js';
import { checkTrailers, RequestHead } from './request-head.js';

/** Receives the requests that a reader finds. */
export interface RequestSink {
  /** Whether it takes more now. */
  readonly isReady: boolean;
  /**
   * Everything passed is valid until the call returns.
   * @param whole the body, when it came together with the head; otherwise `onPiece` and `onEnd` follow
   */
  onHead(head: RequestHead, whole: Buffer | null): void;
  onPiece(piece: Buffer): void;
  onEnd(): void;
}

/** Bytes of chunk extensions in a body; they are dropped. */
const MOST_EXTENSIONS = 16_384;
const NOTHING = Buffer.alloc(0);

/** Splits the bytes of a connection into requests. Throws an ApiError for what is not a request. */
export class RequestReader {
  /** Whether a body has begun and not ended. */
  isInBody = false;
  /** Whether a head goes on in the next piece. */
  #isInHead = false;
  readonly #sink: RequestSink;
  readonly #shared: RequestHead;
  /** For heads that come in pieces, and trailers. */
  #own: RequestHead | null = null;
  #chunks: ChunkedBody | null = null;
  #isChunked = false;
  #left = 0;

  /** @param shared reads heads that come in one piece, for all connections of a port */
  constructor(shared: RequestHead, sink: RequestSink) {
    this.#shared = shared;
    this.#sink = sink;
  }

  /** Whether a head has begun and not ended. */
  get isInHead(): boolean {
    return this.#isInHead && !this.#own!.isBlank;
  }

  /** Reads for as long as the sink is ready. Returns where it stopped. */
  read(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length && this.#sink.isReady) {
      at = this.isInBody ? this.#readBody(bytes, at) : this.#readHead(bytes, at);
    }
    return at;
  }

  #readHead(bytes: Buffer, start: number): number {
    const head = this.#isInHead ? this.#own! : this.#shared;
    let from = start;
    if (!this.#isInHead) {
      // Some clients send an empty line after a body: it does not begin a request.
      while (bytes[from] === CR && bytes[from + 1] === LF) from += 2;
      if (from === bytes.length) return from;
      head.begin(false);
    }
    const end = head.read(bytes, from, bytes.length);
    if (end < 0) {
      if (!this.#isInHead) this.#keepHead(bytes, from);
      return bytes.length;
    }
    this.#isInHead = false;
    head.frame();
    const { length } = head;
    if (length >= 0 && end + length <= bytes.length) {
      this.#sink.onHead(head, length === 0 ? NOTHING : bytes.subarray(end, end + length));
      return end + length;
    }
    this.isInBody = true;
    this.#isChunked = length === CHUNKED;
    this.#left = length;
    if (this.#isChunked) this.#chunked().begin();
    this.#sink.onHead(head, null);
    return end;
  }

  /** A head that goes on in the next piece needs a reader of its own. */
  #keepHead(bytes: Buffer, from: number): void {
    const own = this.#ownHead();
    own.begin(false);
    own.read(bytes, from, bytes.length);
    this.#isInHead = true;
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
    this.#own ??= new RequestHead(this.#shared.limit);
    return this.#own;
  }

  #chunked(): ChunkedBody {
    this.#chunks ??= new ChunkedBody(MOST_EXTENSIONS, this.#ownHead(), requestErrors);
    return this.#chunks;
  }
}
