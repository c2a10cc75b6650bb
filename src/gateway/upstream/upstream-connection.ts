import type { Socket } from 'node:net';
import type { Origin } from './origin.js';
import type { RequestEncoder } from './request-encoder.js';
import { ResponseParser, type ResponseSink } from './response-parser.js';
import { badRequest, connectTimeout, cut, headersTimeout } from './upstream-error.js';
import type { Carrier, UpstreamRequest } from './upstream-request.js';

/** Servers do not close connections that have been idle for less. */
const LEAST_IDLE_MS = 1000;
/** A request on a connection that the replica had closed fails within this time. */
const RACE_MS = 1000;
/** The errors of a connection that the replica had closed. */
const RACE_CODES = new Set(['UPSTREAM_CUT', 'ECONNRESET', 'EPIPE']);
/** The replica's idle time starts when its response is sent, the gateway's when it is received. */
const KEEP_ALIVE_MARGIN_MS = 1000;
const NEVER = Number.POSITIVE_INFINITY;

/** What a connection needs of its pool. */
export interface ConnectionPool {
  readonly origin: Origin;
  readonly encoder: RequestEncoder;
  readonly headBytes: number;
  /** It is free for another request. */
  released(connection: UpstreamConnection): void;
  /** It takes no more requests. @param again a request to be sent again at once, on a new connection */
  lost(connection: UpstreamConnection, again: UpstreamRequest | null): void;
  /** The replica has sent bytes that belong to no request. */
  distrust(): void;
  socketClosed(): void;
}

/** One connection to a replica, and the request on it. */
export class UpstreamConnection implements ResponseSink, Carrier {
  /** Its index in the list of its pool. */
  place = -1;
  isIdle = false;
  /** The deadline to be open, to have the response head, or to be in use again. */
  deadlineMs: number;
  readonly #pool: ConnectionPool;
  readonly #socket: Socket;
  readonly #parser: ResponseParser;
  #request: UpstreamRequest | null;
  #isOpen = false;
  /** It sends at the end of the turn: no byte of its request has been written. */
  #isUnsent = false;
  #isGone = false;
  #idleSinceMs = NEVER;
  /** Inside the socket's read callback. */
  #isReading = false;
  #isPaused = false;
  #sentMs = 0;

  constructor(pool: ConnectionPool, request: UpstreamRequest, connectUntilMs: number) {
    this.#pool = pool;
    this.#request = request;
    request.carrier = this;
    this.deadlineMs = Math.min(connectUntilMs, request.deadlineMs);
    this.#parser = new ResponseParser(pool.headBytes, this);
    this.#socket = pool.origin.open(this.#read, this.#opened);
    this.#socket.on('error', this.#failed).on('end', this.#ended).on('close', this.#closed);
  }

  /** Waits for a request, at most this long, or shorter if the replica says so. */
  rest(nowMs: number, keepAliveMs: number): void {
    this.isIdle = true;
    this.#idleSinceMs = nowMs;
    this.deadlineMs = nowMs + Math.min(keepAliveMs, this.#parser.keepAliveMs - KEEP_ALIVE_MARGIN_MS);
  }

  /** Takes a request, which is sent at the end of the turn. */
  send(request: UpstreamRequest, nowMs: number): void {
    this.isIdle = false;
    this.deadlineMs = request.deadlineMs;
    this.#request = request;
    this.#sentMs = nowMs;
    request.carrier = this;
    this.#parser.begin(request.parts.method === 'HEAD');
    if (this.#isUnsent) return;
    this.#isUnsent = true;
    sendTurn.wait(this);
  }

  /** Sends its request: usually in one write, from a buffer that is reused as soon as that is done. */
  flush(): void {
    this.#isUnsent = false;
    const request = this.#request;
    if (request === null || this.#isGone) return;
    const { encoder, origin } = this.#pool;
    const { body } = request.parts;
    const head = encoder.head(request.parts);
    if (head < 0) {
      this.#request = null;
      this.#pool.released(this);
      request.fail(badRequest());
      return;
    }
    const socket = this.#socket;
    const isWhole = encoder.body(head, body);
    const bytes = encoder.bytes.subarray(0, isWhole ? head + body.length : head);
    if (!isWhole) socket.cork();
    // A TLS socket never reports at once that everything is sent.
    socket.write(origin.isSecure ? Buffer.from(bytes) : bytes);
    if (!isWhole) {
      socket.write(body);
      socket.uncork();
    }
    if (socket.writableLength > 0 && !origin.isSecure) encoder.renew();
  }

  /** Applies the timeouts. */
  check(nowMs: number): void {
    if (nowMs < this.deadlineMs) return;
    if (this.isIdle) this.#lose(null);
    else if (this.#isOpen || nowMs >= this.#request!.deadlineMs) this.fail(headersTimeout());
    else this.fail(connectTimeout());
  }

  /** Parses what has been received, so that the connection stays usable if the response is complete. */
  abandon(): void {
    this.#request = null;
    if (this.#isUnsent) this.#pool.released(this);
    else if (!this.#isReading) this.#lose(null);
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  /** Ends it, and the request on it. */
  fail(error: Error & { code?: string }): void {
    const request = this.#request;
    this.#request = null;
    if (request !== null && this.#wasClosedBefore(error)) this.#lose(request);
    else {
      this.#lose(null);
      request?.fail(error);
    }
  }

  // Called by the parser.

  onHeaders(status: number, headers: string[]): void {
    this.deadlineMs = NEVER;
    const request = this.#request;
    if (request === null) return;
    try {
      request.handler.onHeaders(status, headers);
    } catch (error) {
      this.#handlerFailed(request, error);
    }
  }

  onData(data: Buffer, isLast: boolean): void {
    const request = this.#request;
    if (request === null) return;
    try {
      if (!request.handler.onData(data, isLast)) this.#isPaused = true;
    } catch (error) {
      this.#handlerFailed(request, error);
    }
  }

  onEnd(): void {
    const request = this.#request;
    this.#request = null;
    this.#isPaused = false;
    if (this.#parser.hasExcess) this.#pool.distrust();
    // A request that is not completely sent would continue after its response.
    if (this.#parser.isReusable && this.#socket.writableLength === 0) this.#pool.released(this);
    else this.#lose(null);
    request?.complete();
  }

  // Called by the socket.

  readonly #opened = (): void => {
    if (this.#isGone) return;
    this.#isOpen = true;
    this.send(this.#request!, performance.now());
  };

  readonly #read = (length: number, bytes: Uint8Array): boolean => {
    // Bytes without a request. A request that is not sent yet goes to another connection.
    if (this.#request === null || this.#isUnsent) {
      const unsent = this.#request;
      this.#request = null;
      this.#lose(unsent);
      this.#pool.distrust();
      return false;
    }
    this.#isReading = true;
    try {
      this.#parser.read(bytes as Buffer, length);
    } catch (error) {
      this.fail(error as Error);
    }
    this.#isReading = false;
    // Its request was aborted, and the response is incomplete.
    if (this.#request === null && !this.isIdle) this.#lose(null);
    return !this.#isPaused;
  };

  readonly #failed = (error: Error): void => this.fail(error);

  readonly #ended = (): void => {
    if (this.#request === null) this.#lose(null);
    else {
      try {
        this.#parser.end();
      } catch (error) {
        this.fail(error as Error);
      }
    }
  };

  readonly #closed = (): void => {
    this.fail(cut());
    this.#pool.socketClosed();
  };

  /**
   * Whether the replica probably closed the idle connection while the request was being sent. Then the replica has not
   * read the request, and it is sent once more on a new connection, POST included: the connection had been idle long
   * enough to be closed, it failed at once, and no byte of a response was received. A replica that a request crashes
   * under load does not look like this. A request of which no byte was written is always sent again. In the worst case
   * a replica computes a response twice, as with every retry on another replica.
   */
  #wasClosedBefore({ code }: { code?: string }): boolean {
    if (code === undefined || !RACE_CODES.has(code)) return false;
    if (this.#isUnsent) return true;
    if (this.#parser.hasBegun || this.#sentMs - this.#idleSinceMs < LEAST_IDLE_MS) return false;
    return performance.now() - this.#sentMs < RACE_MS;
  }

  #handlerFailed(request: UpstreamRequest, thrown: unknown): void {
    this.#request = null;
    request.handlerFailed(thrown);
  }

  #lose(again: UpstreamRequest | null): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.isIdle = false;
    this.#socket.destroy();
    this.#pool.lost(this, again);
  }
}

/** Connections that send at the end of this turn, and an empty list for those of the next. */
let waiting: UpstreamConnection[] = [];
let spare: UpstreamConnection[] = [];

/**
 * Sends everything that gathered in a turn of the event loop at its end, for all connections to all replicas. A write
 * wakes the reading process, which costs more than the rest of a request; batched writes wake it once for several
 * requests, and it does not take the processor from other requests of the same turn.
 */
export const sendTurn = {
  wait(connection: UpstreamConnection): void {
    if (waiting.push(connection) === 1) setImmediate(endTurn);
  },
};

function endTurn(): void {
  const sending = waiting;
  waiting = spare;
  spare = sending;
  for (let i = 0; i < sending.length; i++) sending[i]!.flush();
  sending.length = 0;
}
