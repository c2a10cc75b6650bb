import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { RequestParts } from './request-encoder.js';
import { type UpstreamOptions, UpstreamPool } from './upstream-pool.js';
import type { UpstreamHandler, UpstreamRequest } from './upstream-request.js';

/** Timeouts that no test waits for: tests of timeouts sweep at a time they choose. */
export const PATIENT: UpstreamOptions = {
  connectMs: 50_000,
  headersMs: 50_000,
  keepAliveMs: 50_000,
  mostConnections: 64,
  mostWaiting: 64,
  headBytes: 16_384,
};

export const GET: RequestParts = { path: '/x', method: 'GET', headers: [], body: Buffer.alloc(0) };
export const POST: RequestParts = {
  path: '/v1/x',
  method: 'POST',
  headers: ['content-type', 'application/json'],
  body: Buffer.from('{"a":1}'),
};

/** A handler that records its callbacks and can run code in any of them. */
export class Listening implements UpstreamHandler {
  status = 0;
  headers: string[] = [];
  readonly pieces: Buffer[] = [];
  /** All calls in order, data that follows data not counted. */
  readonly calls: string[] = [];
  error: (Error & { code?: string }) | null = null;
  request: UpstreamRequest | null = null;
  act: (call: string, handler: Listening) => void = () => {};
  takes = true;
  readonly over: Promise<this>;
  #settle!: (handler: this) => void;

  constructor() {
    this.over = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  get body(): string {
    return Buffer.concat(this.pieces).toString('latin1');
  }

  onHeaders(status: number, headers: string[]): void {
    this.status = status;
    this.headers = headers;
    this.#heard('headers');
  }

  onData(data: Buffer, isLast: boolean): boolean {
    this.pieces.push(data);
    this.#heard(isLast ? 'last' : 'data');
    return this.takes;
  }

  onComplete(): void {
    this.#settle(this);
    this.#heard('complete');
  }

  onError(error: Error): void {
    this.error = error;
    this.#settle(this);
    this.#heard('error');
  }

  #heard(call: string): void {
    if (call !== 'data' || this.calls.at(-1) !== 'data') this.calls.push(call);
    this.act(call, this);
  }
}

/** A scripted peer: raw bytes on each connection, not HTTP. */
export class RawServer {
  url = '';
  readonly sockets: Socket[] = [];
  readonly #server: Server;
  readonly #pools: UpstreamPool[] = [];

  /** @param request called for each complete request, with its number on its connection */
  constructor(request: (socket: Socket, number: number, text: string) => void) {
    this.#server = createServer((socket) => {
      this.sockets.push(socket);
      let text = '';
      let number = 0;
      socket.on('error', () => {});
      socket.on('data', (bytes) => {
        text += bytes.toString('latin1');
        for (let end = wholeRequest(text); end > 0; end = wholeRequest(text)) {
          const one = text.slice(0, end);
          text = text.slice(end);
          request(socket, number++, one);
        }
      });
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  pool(change: Partial<UpstreamOptions> = {}): UpstreamPool {
    const pool = new UpstreamPool(this.url, { ...PATIENT, ...change });
    this.#pools.push(pool);
    return pool;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.destroy()));
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** The end of the first request in a text, or 0. */
function wholeRequest(text: string): number {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return 0;
  const length = Number(/^content-length: (\d+)\r$/im.exec(text.slice(0, head + 2))?.[1] ?? 0);
  return text.length >= head + 4 + length ? head + 4 + length : 0;
}

export function send(pool: UpstreamPool, parts: RequestParts = POST, handler = new Listening()): Listening {
  handler.request = pool.dispatch(parts, handler);
  return handler;
}

/** A response of some text. */
export function response(body: string, ...headers: string[]): string {
  return `HTTP/1.1 200 OK\r\n${headers.map((line) => `${line}\r\n`).join('')}content-length: ${body.length}\r\n\r\n${body}`;
}
