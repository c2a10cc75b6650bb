import type { Socket } from 'node:net';
import type { HttpResponse } from './http-response.js';
import { ResponseQueue } from './response-queue.js';
import { asBuffers, ILLEGAL, type ResponseWriter } from './response-writer.js';

const NOTHING = Buffer.alloc(0);
const CONTINUE = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');

/** Sends the responses of a connection in the order of their requests, each in as few writes as possible. */
export class ResponseSender {
  /** The responses that are due. */
  readonly queue = new ResponseQueue();
  readonly #socket: Socket;
  readonly #writer: ResponseWriter;
  readonly #isSecure: boolean;
  readonly #illegal: () => void;

  /** @param illegal is called for a response with an illegal header, which is not sent */
  constructor(socket: Socket, writer: ResponseWriter, isSecure: boolean, illegal: () => void) {
    this.#socket = socket;
    this.#writer = writer;
    this.#isSecure = isSecure;
    this.#illegal = illegal;
  }

  /** Whether too many bytes wait for the client. */
  isBehind(response: HttpResponse): boolean {
    return response === this.queue.first ? this.#socket.writableNeedDrain : this.queue.isFull(response);
  }

  /** Whether the client keeps up. */
  send(response: HttpResponse, head: string, lines: number, piece: Buffer | null, isLast: boolean): boolean {
    const writer = this.#writer;
    const length = writer.put(head, lines, piece, response.isChunked, isLast);
    if (length === 0) return true;
    if (length === ILLEGAL) {
      this.#illegal();
      return true;
    }
    if (length < 0) return this.#sendLarge(response, head, lines, piece ?? NOTHING, isLast);
    const bytes = writer.bytes.subarray(0, length);
    // A TLS socket never reports at once that everything is sent.
    if (this.#isSecure || response !== this.queue.first) return this.#put(response, Buffer.from(bytes));
    const keepsUp = this.#socket.write(bytes);
    if (this.#socket.writableLength > 0) writer.renew();
    return keepsUp;
  }

  /** Sends 100 Continue in the turn of the response. */
  askForBody(response: HttpResponse): void {
    this.#put(response, CONTINUE);
  }

  /** Sends bytes, or holds them until it is their turn. */
  #put(response: HttpResponse, bytes: Buffer): boolean {
    return response === this.queue.first ? this.#socket.write(bytes) : this.queue.hold(response, bytes);
  }

  /** The first response is sent: sends what is held of the next. */
  next(): void {
    const held = this.queue.next();
    if (held.length === 0) return;
    const socket = this.#socket;
    socket.cork();
    for (const bytes of held) socket.write(bytes);
    socket.uncork();
    if (!socket.writableNeedDrain) this.queue.first!.onDrain?.();
  }

  #sendLarge(response: HttpResponse, head: string, lines: number, piece: Buffer, isLast: boolean): boolean {
    const buffers = asBuffers(head, lines, piece, response.isChunked, isLast);
    if (buffers === null) {
      this.#illegal();
      return true;
    }
    let keepsUp = true;
    this.#socket.cork();
    for (const bytes of buffers) if (bytes.length > 0) keepsUp = this.#put(response, bytes);
    this.#socket.uncork();
    return keepsUp;
  }
}
