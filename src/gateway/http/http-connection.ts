import type { Socket } from 'node:net';
import { ApiError } from '../../protocol/errors.js';
import { methodWrong } from '../errors.js';
import { BodyTurns } from './body-turns.js';
import { ClientPace, ClientPatience, NEVER } from './client-time.js';
import type { ClientTimes, ConnectionHost } from './connection-host.js';
import { HttpRequest, type RequestCarrier } from './http-request.js';
import { HttpResponse, KEEP_ALIVE_MS, type ResponseCarrier } from './http-response.js';
import { expectationUnknown, notHttp, requestTimeout } from './request-errors.js';
import type { RequestHead } from './request-head.js';
import { RequestReader, type RequestSink } from './request-reader.js';
import { respondError } from './respond-error.js';
import type { ResponseQueue } from './response-queue.js';
import { ResponseSender } from './response-sender.js';

/** How long a client may take to hang up after its last response: a connection that is cut may lose bytes of it. */
const LINGER_MS = 1000;

/** A client's connection: the requests on it, and the responses due. */
export class HttpConnection implements RequestSink, RequestCarrier, ResponseCarrier {
  readonly #host: ConnectionHost;
  readonly #socket: Socket;
  readonly #reader: RequestReader;
  readonly #responses: ResponseSender;
  readonly #due: ResponseQueue;
  readonly #pace = new ClientPace();
  readonly #patience = new ClientPatience();
  /** The request whose body is being received, and its response. */
  #reading: HttpRequest | null = null;
  #readingFor: HttpResponse | null = null;
  /** Bytes that have arrived and cannot be read yet. */
  #rest: Buffer | null = null;
  #isInside = false;
  readonly #turns: BodyTurns;
  /** Nothing has been received so far; no request follows the one read last; the last response is sent. */
  #isFresh = true;
  #isLast = false;
  #isShut = false;
  #isGone = false;
  /** Bytes that were read and discarded. */
  #discarded = 0;

  constructor(socket: Socket, host: ConnectionHost) {
    this.#socket = socket;
    this.#host = host;
    this.#turns = new BodyTurns(socket, () => this.#rest === null);
    this.#reader = new RequestReader(host.reader, this);
    this.#responses = new ResponseSender(socket, host.writer, host.isSecure, this.#illegal);
    this.#due = this.#responses.queue;
    socket.on('data', this.#read).on('end', this.#ended).on('drain', this.#drained);
    socket.on('error', () => {}).on('close', this.#closed);
  }

  get address(): string {
    return this.#socket.remoteAddress ?? '';
  }

  /** Applies the timeouts. */
  check(nowMs: number, times: ClientTimes): void {
    const isOver = this.#patience.isOver(nowMs, this.#longestMs(times));
    if (this.#pace.hasStalled(this.#socket, nowMs, times.idleMs)) this.destroy();
    else if (!isOver) return;
    else if (this.#isShut || !this.#isMidway) this.destroy();
    else this.#break(requestTimeout());
  }

  /** Closes it if nothing is under way on it. An incomplete head does not count. */
  closeIdle(): void {
    if (this.#due.length > 0 || this.#isShut) return;
    if (this.#socket.writableLength > 0) this.#finish();
    else this.destroy();
  }

  destroy(): void {
    this.#isLast = true;
    this.#socket.destroy();
  }

  // Called by the reader.

  get isReady(): boolean {
    if (this.#reading !== null) return this.#reading.isWanted || this.#readingFor!.isEnded;
    return !this.#isLast && this.#due.length < this.#host.mostAhead && !this.#socket.writableNeedDrain;
  }

  onHead(head: RequestHead, whole: Buffer | null): void {
    if (head.method === 'CONNECT') throw methodWrong('CONNECT', head.target, 'GET, POST');
    const request = new HttpRequest(head, head.length, this);
    const response = new HttpResponse(request, head.keepsAlive, this);
    this.#due.push(response);
    this.#isLast = !head.keepsAlive;
    if (whole !== null) {
      this.#patience.begin();
      request.complete(whole);
    } else {
      this.#reading = request;
      this.#readingFor = response;
      this.#discarded = 0;
    }
    if (head.expects === null) this.#handle(request, response);
    else this.#expected(head.expects, request, response);
  }

  onPiece(piece: Buffer): void {
    if (this.#reading!.isWanted) this.#reading!.add(piece);
    else this.#discard(piece.length);
  }

  onEnd(): void {
    const request = this.#reading!;
    this.#reading = this.#readingFor = null;
    this.#patience.begin();
    request.complete(null);
  }

  // Called by requests and responses.

  bodyWanted(request: HttpRequest): void {
    if (request.isExpecting) {
      request.isExpecting = false;
      this.#responses.askForBody(this.#readingFor!);
    }
    this.#goOn();
  }

  send(response: HttpResponse, head: string, lines: number, piece: Buffer | null, isLast: boolean): boolean {
    return this.#isGone || this.#isShut || this.#responses.send(response, head, lines, piece, isLast);
  }

  ended(): void {
    if (this.#isGone || this.#isShut) return;
    while (this.#due.first?.isEnded) {
      const { isHandingOver, isStopping } = this.#host;
      const isOver = isStopping && !isHandingOver && this.#due.length === 1;
      if (isOver || !this.#due.first.shouldKeepAlive) {
        this.#due.next();
        this.#finish();
        return;
      }
      this.#responses.next();
    }
    this.#goOn();
  }

  closesAfter(response: HttpResponse): boolean {
    return this.#host.isStopping && this.#due.last === response;
  }

  isBehind(response: HttpResponse): boolean {
    return this.#responses.isBehind(response);
  }

  // Called by the socket.

  readonly #read = (bytes: Buffer): void => {
    this.#turns.begin(bytes.length);
    if (this.#rest !== null) this.#rest = Buffer.concat([this.#rest, bytes]);
    else this.#consume(bytes);
    if (this.#reading !== null) this.#turns.took(bytes.length);
  };

  /** The client has closed its side before its response was sent. */
  readonly #ended = (): void => {
    if (this.#isShut) return;
    const due = this.#due.length;
    if (due === 0 && !this.#reader.isInHead) this.#finish();
    else if (due === 0 || (due === 1 && this.#readingFor?.headersSent === false)) this.#break(notHttp('is incomplete'));
    else this.destroy();
  };

  readonly #drained = (): void => {
    this.#due.first?.onDrain?.();
    this.#goOn();
  };

  readonly #closed = (): void => {
    this.#isGone = this.#isLast = true;
    this.#rest = null;
    this.#leave();
    this.#host.left(this);
  };

  readonly #illegal = (): void => this.#failed(new Error('a response has an illegal header'));

  /** A request has begun and is not complete. */
  get #isMidway(): boolean {
    return this.#isFresh || this.#reading !== null || (this.#reader.isInHead && !this.#isLast);
  }

  #longestMs({ bodyMs, headersMs }: ClientTimes): number {
    // A client that still reads its last response has no limit here.
    if (this.#isShut) return this.#socket.writableLength > 0 ? NEVER : LINGER_MS;
    if (this.#rest !== null) return NEVER;
    if (this.#reading !== null) return bodyMs;
    if (this.#isMidway) return Math.min(headersMs, bodyMs);
    return this.#due.length > 0 ? NEVER : KEEP_ALIVE_MS;
  }

  #consume(bytes: Buffer): void {
    if (this.#isShut) {
      this.#discard(bytes.length);
      return;
    }
    // The time for a request begins with it.
    if (!this.#isMidway) this.#patience.begin();
    this.#isFresh = false;
    let at: number;
    this.#isInside = true;
    try {
      at = this.#reader.read(bytes);
    } catch (error) {
      if (error instanceof ApiError) this.#break(error);
      else this.#failed(error);
      return;
    } finally {
      this.#isInside = false;
    }
    if (this.#isShut || (this.#isLast && this.#reading === null)) this.#discard(bytes.length - at);
    else if (at < bytes.length) {
      this.#rest = bytes.subarray(at);
      this.#socket.pause();
    }
  }

  /** Reads bytes that had to wait, if that is possible now. */
  #goOn(): void {
    if (this.#rest === null || this.#isInside || !this.isReady) return;
    const rest = this.#rest;
    this.#rest = null;
    this.#socket.resume();
    this.#consume(rest);
  }

  #discard(bytes: number): void {
    this.#discarded += bytes;
    if (this.#discarded > this.#host.discardBytes) this.destroy();
  }

  #handle(request: HttpRequest, response: HttpResponse): void {
    try {
      this.#host.handle(request, response);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** The handler threw. Part of a response may be sent: only closing the connection marks it as incomplete. */
  #failed(error: unknown): void {
    this.#host.fault(error);
    this.destroy();
  }

  #expected(what: string, request: HttpRequest, response: HttpResponse): void {
    request.isExpecting = true;
    if (what.toLowerCase() === '100-continue') this.#handle(request, response);
    else this.#refuse(response, expectationUnknown());
  }

  /** The bytes are no request, or did not arrive in time. Responses that are due are sent first, then the refusal. */
  #break(error: ApiError): void {
    const pending = this.#readingFor;
    this.#reading = this.#readingFor = null;
    this.#isLast = true;
    if (pending === null) {
      const refusal = new HttpResponse(null, false, this);
      this.#due.push(refusal);
      this.#refuse(refusal, error);
    } else if (!pending.headersSent) {
      // Its handler cannot respond any more.
      pending.onClose?.();
      pending.shouldKeepAlive = false;
      this.#refuse(pending, error);
    } else if (!pending.isEnded) this.destroy();
    else if (this.#due.includes(pending)) pending.shouldKeepAlive = false;
    else this.#finish();
  }

  #refuse(response: HttpResponse, error: ApiError): void {
    this.#host.refused(error.status);
    respondError(response, error);
  }

  /** The last response is sent. What the client still sends is discarded, so that it can read its response. */
  #finish(): void {
    this.#isShut = this.#isLast = true;
    this.#patience.begin();
    this.#discarded = 0;
    this.#rest = null;
    this.#leave();
    this.#socket.end();
    this.#socket.resume();
  }

  /** Reports to the handlers that their responses will not be sent. */
  #leave(): void {
    for (const { onClose } of this.#due.clear()) onClose?.();
  }
}
