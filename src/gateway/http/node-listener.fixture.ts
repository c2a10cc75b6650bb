import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { ApiError } from '../../protocol/errors.js';
import { errorBody } from '../../protocol/errors.js';
import type { ListenConfig } from '../config/gateway-config.js';
import { readTls, type TlsFiles } from '../config/read-tls.js';
import { methodWrong } from '../errors.js';
import type { ListenerParts, Listener as OurListener } from '../server/listener.js';
import type { BodyListener, HttpRequest } from './http-request.js';
import { type HttpResponse, KEEP_ALIVE_MS } from './http-response.js';
import { expectationUnknown, headersTooLarge, notHttp, requestTimeout } from './request-errors.js';

/** What is known of a connection: responses due, the request read last, and the refusal that follows the responses. */
interface Connection {
  readonly due: Set<NodeResponse>;
  last: { incoming: IncomingMessage; outgoing: ServerResponse } | null;
  refusal: ApiError | null;
}

type Public<Class> = { [Member in keyof Class]: Class[Member] };

/** `Listener` on Node's own HTTP server, behind the same handler: the oracle of the gateway's server. In tests only. */
export class Listener
  implements Omit<Public<OurListener>, 'handle' | 'reader' | 'writer' | 'left' | 'isSecure' | 'mostAhead'>
{
  readonly times: ListenerParts['timeouts'];
  readonly discardBytes: number;
  dropped = 0;
  tlsFailures = 0;
  isStopping = false;
  isHandingOver = false;
  readonly refused: (status: number) => void;
  readonly fault: (error: unknown) => void;
  readonly #config: ListenConfig;
  readonly #parts: ListenerParts;
  readonly #server: Server;
  readonly #connections = new Map<Socket, Connection>();

  constructor(config: ListenConfig, parts: ListenerParts) {
    this.#config = config;
    this.#parts = parts;
    this.times = { ...parts.timeouts };
    this.discardBytes = parts.discardBytes;
    this.refused = parts.refused;
    this.fault = parts.fault;
    const { bodyMs, headersMs } = parts.timeouts;
    const options: ServerOptions = {
      maxHeaderSize: parts.headerBytes,
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: Math.min(headersMs, bodyMs),
      requestTimeout: bodyMs,
      connectionsCheckingInterval: Math.min(1000, Math.ceil(Math.min(bodyMs, headersMs) / 4)),
    };
    this.#server =
      config.tls === null
        ? createServer(options)
        : createTlsServer({ ...options, ...readTls(config.tls), minVersion: 'TLSv1.2' });
    this.#server.maxConnections = parts.connections;
    this.#server.maxHeadersCount = 0;
    this.#server.on(config.tls === null ? 'connection' : 'secureConnection', (socket: Socket) => {
      const connection: Connection = { due: new Set(), last: null, refusal: null };
      this.#connections.set(socket, connection);
      socket.on('close', () => {
        this.#connections.delete(socket);
        for (const response of connection.due) response.onClose?.();
      });
    });
    this.#server.on('request', (request, response) => this.#handle(request, response, false));
    this.#server.on('checkContinue', (request, response) => this.#handle(request, response, true));
    this.#server.on('checkExpectation', (_, response) => this.#refuse(response, expectationUnknown()));
    this.#server.on('connect', (request, socket) =>
      this.#break(socket as Socket, methodWrong('CONNECT', request.url ?? '', 'GET, POST')),
    );
    this.#server.on('clientError', (error, socket) => this.#clientError(error, socket as Socket));
    this.#server.on('drop', () => this.dropped++);
    this.#server.on('tlsClientError', () => this.tlsFailures++);
  }

  start(): Promise<void> {
    const { host, port } = this.#config;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
  }

  get url(): string {
    const { host, tls } = this.#config;
    const { port } = this.#server.address() as AddressInfo;
    return `${tls === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  }

  get size(): number {
    return this.#connections.size;
  }

  renew(files: TlsFiles): void {
    (this.#server as unknown as { setSecureContext(files: object): void }).setSecureContext({
      ...files,
      minVersion: 'TLSv1.2',
    });
  }

  stop(): Promise<void> {
    this.isStopping = true;
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.closeIdle();
    });
  }

  handOver(): null {
    return null;
  }

  closeIdle(): void {
    this.#server.closeIdleConnections();
    for (const [socket, { due }] of this.#connections) if (due.size === 0) socket.destroy();
  }

  cut(): void {
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  #handle(incoming: IncomingMessage, outgoing: ServerResponse, isExpecting: boolean): void {
    const { socket } = incoming;
    const connection = this.#connections.get(socket)!;
    const request = new NodeRequest(incoming, outgoing, isExpecting, this);
    const response = new NodeResponse(request, outgoing, this);
    connection.due.add(response);
    connection.last = { incoming, outgoing };
    outgoing.on('finish', () => {
      connection.due.delete(response);
      if (connection.due.size === 0) this.#sendRefusal(socket, connection);
    });
    try {
      this.#parts.handler(request as unknown as HttpRequest, response as unknown as HttpResponse);
    } catch (error) {
      this.fault(error);
      socket.destroy();
    }
  }

  #clientError(error: Error & { code?: string }, socket: Socket): void {
    if (error.code === 'ECONNRESET' || error.code === 'EPIPE') socket.destroy();
    else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') this.#break(socket, requestTimeout());
    else if (error.code === 'HPE_HEADER_OVERFLOW') {
      this.#break(socket, headersTooLarge('headers', this.#parts.headerBytes));
    } else if (error.code === 'HPE_INVALID_EOF_STATE') this.#break(socket, notHttp('is incomplete'));
    else this.#break(socket, notHttp(`is refused by Node.js (${error.code})`));
  }

  /** Refuses a request: as its response if it is incomplete, otherwise behind the responses that are due. */
  #break(socket: Socket, error: ApiError): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined || connection.refusal !== null) return;
    const { last } = connection;
    if (last !== null && !last.incoming.complete) {
      if (last.outgoing.headersSent) socket.end();
      else this.#refuse(last.outgoing, error);
      return;
    }
    connection.refusal = error;
    this.refused(error.status);
    if (connection.due.size === 0) this.#sendRefusal(socket, connection);
  }

  #sendRefusal(socket: Socket, { refusal: error }: Connection): void {
    if (error === null || !socket.writable) return;
    const body = JSON.stringify(errorBody(error));
    const head = `HTTP/1.1 ${error.status} Refused\r\ncontent-type: application/json\r\n`;
    socket.end(`${head}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`);
  }

  #refuse(response: ServerResponse, error: ApiError): void {
    this.refused(error.status);
    const body = JSON.stringify(errorBody(error));
    response.writeHead(error.status, ['content-length', String(Buffer.byteLength(body)), 'connection', 'close']);
    response.end(body);
  }
}

/** Parts that a port itself does not use. */
type Forwarding = 'allOf' | 'forwarded' | 'forwardedFor' | 'isForwarded';

class NodeRequest implements Omit<Public<HttpRequest>, 'add' | 'complete' | Forwarding> {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: string[];
  readonly minor: number;
  readonly length: number;
  isWanted = false;

  constructor(
    private readonly incoming: IncomingMessage,
    private readonly outgoing: ServerResponse,
    public isExpecting: boolean,
    private readonly listener: Listener,
  ) {
    const { headers, httpVersionMinor, method, rawHeaders, url } = incoming;
    this.method = method!;
    this.url = url!;
    this.rawHeaders = rawHeaders;
    this.minor = httpVersionMinor;
    this.length = headers['transfer-encoding'] !== undefined ? -1 : Number(headers['content-length'] ?? 0);
  }

  get address(): string {
    return this.incoming.socket.remoteAddress ?? '';
  }

  get isComplete(): boolean {
    return this.incoming.complete;
  }

  header(lower: string): string | undefined {
    const at = this.rawHeaders.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === lower);
    return at < 0 ? undefined : this.rawHeaders[at + 1];
  }

  collect(limit: number, done: BodyListener): void {
    this.isWanted = true;
    if (this.isExpecting) this.outgoing.writeContinue();
    this.isExpecting = false;
    const pieces: Buffer[] = [];
    let bytes = 0;
    const finish = (body: Buffer | null) => {
      if (!this.isWanted) return;
      this.isWanted = false;
      try {
        done(body, null);
      } catch (error) {
        this.listener.fault(error);
        this.incoming.socket.destroy();
      }
    };
    this.incoming.on('data', (piece: Buffer) => {
      bytes += piece.length;
      pieces.push(piece);
      if (bytes > limit) finish(null);
    });
    this.incoming.on('end', () => finish(Buffer.concat(pieces)));
  }
}

class NodeResponse implements Omit<Public<HttpResponse>, 'isChunked' | 'addHeader'> {
  shouldKeepAlive = true;
  onClose: (() => void) | null = null;
  onDrain: (() => void) | null = null;

  constructor(
    private readonly request: NodeRequest,
    private readonly outgoing: ServerResponse,
    private readonly listener: Listener,
  ) {
    outgoing.on('drain', () => this.onDrain?.());
    outgoing.on('error', () => {});
  }

  get headersSent(): boolean {
    return this.outgoing.headersSent;
  }

  get isEnded(): boolean {
    return this.outgoing.writableEnded;
  }

  get isBehind(): boolean {
    return this.outgoing.writableNeedDrain;
  }

  writeHead(status: number, headers: readonly string[]): void {
    if (this.headersSent) return;
    if (this.request.isExpecting && !this.request.isComplete) this.shouldKeepAlive = false;
    this.outgoing.shouldKeepAlive &&= this.shouldKeepAlive && !this.listener.isStopping;
    try {
      this.outgoing.writeHead(status, [...headers]);
    } catch (error) {
      this.listener.fault(error);
      this.destroy();
    }
  }

  flushHeaders(): void {
    this.outgoing.flushHeaders();
  }

  write(piece: Buffer | string): boolean {
    if (this.isEnded) return true;
    return piece.length === 0 ? !this.isBehind : this.outgoing.write(piece);
  }

  end(piece: Buffer | string | null = null): void {
    if (!this.isEnded) this.outgoing.end(piece ?? undefined);
  }

  destroy(): void {
    this.outgoing.destroy();
    this.outgoing.socket?.destroy();
  }
}
