import { type AddressInfo, type BlockList, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type SecureVersion, type Server as TlsServer } from 'node:tls';
import type { ListenConfig } from '../config/gateway-config.js';
import { readTls, type TlsFiles } from '../config/read-tls.js';
import { badSockets } from '../errors.js';
import type { ClientTimes, ConnectionHost } from '../http/connection-host.js';
import { HttpConnection } from '../http/http-connection.js';
import type { HttpRequest } from '../http/http-request.js';
import type { HttpResponse } from '../http/http-response.js';
import { RequestHead } from '../http/request-head.js';
import { ResponseWriter } from '../http/response-writer.js';
import { AddressCounts } from './address-counts.js';

/** Handles a request; the response may be sent later. */
export type RequestHandler = (request: HttpRequest, response: HttpResponse) => void;

export interface ListenerParts {
  /** The most bytes of a request line and its headers together. */
  headerBytes: number;
  /** The most that is read of an unused body before the connection is closed. */
  discardBytes: number;
  /** The most pipelined requests of a connection that are read before the first response. */
  mostAhead: number;
  /** Connections at a time; further ones are closed at once. */
  connections: number;
  /** Connections at a time from one address; further ones are closed at once. */
  connectionsPerAddress: number;
  /** Addresses without that limit: proxies, which connect for many clients. */
  uncapped: BlockList;
  timeouts: ClientTimes;
  handler: RequestHandler;
  /** A request was refused as malformed or ambiguous HTTP. */
  refused(status: number): void;
  /** An unexpected error. */
  fault(error: unknown): void;
}

const OLDEST_TLS: SecureVersion = 'TLSv1.2';
/** How often the timeouts of connections are checked, unless they are shorter. */
const LOOK_MS = 1000;

/** A port for plain HTTP or TLS. */
export class Listener implements ConnectionHost {
  /** The timeouts for clients. */
  readonly times: ClientTimes;
  /** Connections that were closed at once because there were too many. */
  dropped = 0;
  /** TLS handshakes that failed. */
  tlsFailures = 0;
  isStopping = false;
  isHandingOver = false;
  readonly reader: RequestHead;
  readonly writer = new ResponseWriter();
  readonly isSecure: boolean;
  readonly discardBytes: number;
  readonly mostAhead: number;
  readonly handle: RequestHandler;
  readonly refused: (status: number) => void;
  readonly fault: (error: unknown) => void;
  readonly #config: ListenConfig;
  readonly #server: Server;
  readonly #connections = new Set<HttpConnection>();
  /** Connections on which TLS has not begun yet, by peer. */
  readonly #handshakes = new Map<string, Socket>();
  readonly #addresses: AddressCounts;
  #watcher: NodeJS.Timeout | undefined;
  #inherits = false;

  constructor(config: ListenConfig, parts: ListenerParts) {
    this.#config = config;
    this.times = { ...parts.timeouts };
    this.reader = new RequestHead(parts.headerBytes);
    this.discardBytes = parts.discardBytes;
    this.mostAhead = parts.mostAhead;
    this.isSecure = config.tls !== null;
    this.handle = parts.handler;
    this.refused = parts.refused;
    this.fault = parts.fault;
    this.#server =
      config.tls === null
        ? // A client that closes its side in the middle of a request gets the error.
          createServer({ allowHalfOpen: true, noDelay: true })
        : createTlsServer({
            noDelay: true,
            ...readTls(config.tls),
            requestCert: config.tls.clientCa !== undefined,
            rejectUnauthorized: true,
            minVersion: OLDEST_TLS,
            handshakeTimeout: parts.timeouts.headersMs,
          });
    this.#addresses = new AddressCounts(parts.connectionsPerAddress, parts.uncapped);
    this.#server.maxConnections = parts.connections;
    this.#server.on('connection', (socket: Socket) => {
      if (this.#addresses.enter(socket)) return;
      this.dropped++;
      socket.destroy();
    });
    if (this.isSecure) this.#server.on('connection', this.#shakesHands);
    this.#server.on(this.isSecure ? 'secureConnection' : 'connection', (socket: Socket) => {
      if (socket.destroyed) return;
      if (this.isSecure) this.#handshakes.delete(peerOf(socket));
      this.#connections.add(new HttpConnection(socket, this));
    });
    this.#server.on('drop', () => {
      this.dropped++;
    });
    this.#server.on('tlsClientError', () => {
      this.tlsFailures++;
    });
  }

  /**
   * Resolves when it listens; rejects when it cannot.
   * @param socket the descriptor of a listening socket to use; null to open the configured port
   */
  start(socket: number | null = null): Promise<void> {
    const { host, port } = this.#config;
    const { bodyMs, headersMs, idleMs } = this.times;
    return new Promise((resolve, reject) => {
      const failed = (error: Error) => reject(socket === null ? error : notASocket(socket));
      this.#server.once('error', failed);
      this.#server.listen(socket === null ? { port, host } : { fd: socket }, () => {
        if (socket !== null && typeof this.#server.address() !== 'object') {
          failed(notASocket(socket));
          return;
        }
        this.#inherits = socket !== null;
        this.#server.off('error', failed);
        const everyMs = Math.min(LOOK_MS, Math.ceil(Math.min(bodyMs, headersMs, idleMs) / 4));
        this.#watcher = setInterval(() => this.#look(), everyMs);
        resolve();
      });
    });
  }

  get url(): string {
    const { tls } = this.#config;
    const { address, port } = this.#server.address() as AddressInfo;
    const host = this.#inherits ? address : this.#config.host;
    return `${tls === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  }

  /** Connections that are open. */
  get size(): number {
    return this.#connections.size;
  }

  /** Uses these files for new connections. */
  renew(files: TlsFiles): void {
    (this.#server as TlsServer).setSecureContext({ ...files, minVersion: OLDEST_TLS });
  }

  /**
   * Leaves new connections to the next process, if the socket is not its own: they wait in the socket's queue. Requests
   * on open connections are still handled, and each response closes its connection. Resolves when no connection is left,
   * or after `withinMs`.
   */
  handOver(withinMs: number): Promise<void> | null {
    if (!this.#inherits) return null;
    this.isStopping = true;
    this.isHandingOver = true;
    return new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#server.close(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Stops listening; resolves when the last connection has ended. */
  stop(): Promise<void> {
    this.isStopping = true;
    this.isHandingOver = false;
    return new Promise((resolve) => {
      this.#server.close(() => {
        clearInterval(this.#watcher);
        resolve();
      });
      this.closeIdle();
      // They have sent no request.
      for (const socket of this.#handshakes.values()) socket.destroy();
    });
  }

  /** Closes connections on which nothing is under way. */
  closeIdle(): void {
    for (const connection of this.#connections) connection.closeIdle();
  }

  cut(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  left(connection: HttpConnection): void {
    this.#connections.delete(connection);
  }

  readonly #shakesHands = (socket: Socket): void => {
    const peer = peerOf(socket);
    this.#handshakes.set(peer, socket);
    socket.once('close', () => {
      if (this.#handshakes.get(peer) === socket) this.#handshakes.delete(peer);
    });
  };

  #look(): void {
    const nowMs = performance.now();
    for (const connection of this.#connections) connection.check(nowMs, this.times);
  }
}

const notASocket = (socket: number) =>
  badSockets(`descriptor ${socket} is not a listening TCP socket`, 'see ListenStream= in systemd.socket(5)');

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
