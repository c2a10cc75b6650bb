import { STATUS_CODES } from 'node:http';
import { isNamed } from '../wire/head-syntax.js';
import type { HttpRequest } from './http-request.js';

/** Longer than clients keep an idle connection, so that none is closed while a request is sent. */
export const KEEP_ALIVE_MS = 75_000;
const KEPT = `connection: keep-alive\r\nkeep-alive: timeout=${KEEP_ALIVE_MS / 1000}\r\n\r\n`;
const CLOSED = 'connection: close\r\n\r\n';
const CHUNKED = 'transfer-encoding: chunked\r\n';
/** Status line and the empty line. */
const USUAL_LINES = 2;

/** What a response needs of its connection. */
export interface ResponseCarrier {
  /** Whether the client keeps up. */
  send(response: HttpResponse, head: string, lines: number, piece: Buffer | null, isLast: boolean): boolean;
  /** A response has ended. */
  ended(): void;
  /** Whether too many bytes wait for the client. */
  isBehind(response: HttpResponse): boolean;
  /** Whether the connection takes no request after this one. */
  closesAfter(response: HttpResponse): boolean;
  destroy(): void;
}

/** A response to a request, framed as its client understands it. */
export class HttpResponse {
  /** False closes the connection after it. To be set before its head is written. */
  shouldKeepAlive: boolean;
  /** Its head is written and cannot be changed. */
  headersSent = false;
  isEnded = false;
  /** Called when the client disconnects before the response is sent, and when it reads again. */
  onClose: (() => void) | null = null;
  onDrain: (() => void) | null = null;
  /** Its body is chunked. */
  isChunked = false;
  readonly #request: HttpRequest | null;
  readonly #carrier: ResponseCarrier;
  /** The head, until it is sent with the first bytes of the body. */
  #head = '';
  #lines = 0;
  #added = '';
  #hasBody = true;

  /** @param request null for a response to bytes that are not a request */
  constructor(request: HttpRequest | null, keepsAlive: boolean, carrier: ResponseCarrier) {
    this.#request = request;
    this.shouldKeepAlive = keepsAlive;
    this.#carrier = carrier;
  }

  /** Whether too many bytes wait for the client: further writes are buffered in memory. */
  get isBehind(): boolean {
    return this.#carrier.isBehind(this);
  }

  /** Adds a header to those that `writeHead` will get. */
  addHeader(name: string, value: string): void {
    this.#added += `${name}: ${value}\r\n`;
    this.#lines++;
  }

  /** @param headers flat: name, value, name, value. Framing and connection headers are set here */
  writeHead(status: number, headers: readonly string[]): void {
    if (this.headersSent) return;
    this.headersSent = true;
    let head = statusLine(status) + this.#added;
    let hasLength = false;
    let hasDate = false;
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i]!;
      head += `${name}: ${headers[i + 1]!}\r\n`;
      if (name.length === 14) hasLength ||= isNamed(name, 'content-length');
      else if (name.length === 4) hasDate ||= isNamed(name, 'date');
    }
    this.#lines += USUAL_LINES + (headers.length >> 1);
    const request = this.#request;
    this.#hasBody = request?.method !== 'HEAD' && status !== 204 && status !== 304;
    if (this.#hasBody && !hasLength) {
      // An HTTP/1.0 client does not know chunks: the body ends with the connection.
      if (request === null || request.minor === 0) this.shouldKeepAlive = false;
      else {
        this.isChunked = true;
        head += CHUNKED;
        this.#lines++;
      }
    }
    // Without 100 Continue the client may send its body or not.
    if (request?.isExpecting && !request.isComplete) this.shouldKeepAlive = false;
    if (this.#carrier.closesAfter(this)) this.shouldKeepAlive = false;
    this.#lines += this.shouldKeepAlive ? 2 : 1;
    // A response that is passed on keeps its date.
    if (!hasDate) {
      head += dateLine(Date.now());
      this.#lines++;
    }
    this.#head = head + (this.shouldKeepAlive ? KEPT : CLOSED);
  }

  /** Sends the head without waiting for a body. */
  flushHeaders(): void {
    if (this.#head !== '' && !this.isEnded) this.#send(null, false);
  }

  /** Whether the client keeps up; if not, `onDrain` is called when it does again. */
  write(piece: Buffer | string): boolean {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    if (this.isEnded) return true;
    return bytes.length === 0 ? !this.isBehind : this.#send(bytes, false);
  }

  end(piece: Buffer | string | null = null): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.#send(typeof piece === 'string' ? Buffer.from(piece) : piece, true);
    this.#carrier.ended();
  }

  /** Closes the connection: the announced response is incomplete. */
  destroy(): void {
    this.#carrier.destroy();
  }

  #send(piece: Buffer | null, isLast: boolean): boolean {
    const head = this.#head;
    this.#head = '';
    return this.#carrier.send(this, head, this.#lines, this.#hasBody ? piece : null, isLast);
  }
}

const statusLines = new Map<number, string>();

function statusLine(status: number): string {
  let line = statusLines.get(status);
  if (line === undefined) {
    line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`;
    statusLines.set(status, line);
  }
  return line;
}

let dateSecond = -1;
let dateText = '';

/** The `date` header, formatted once per second. */
function dateLine(nowMs: number): string {
  const now = Math.floor(nowMs / 1000);
  if (now !== dateSecond) {
    dateSecond = now;
    dateText = `date: ${new Date(nowMs).toUTCString()}\r\n`;
  }
  return dateText;
}
