import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createSecureContext, type SecureVersion } from 'node:tls';
import { ApiError } from '../../protocol/errors.js';
import { methodWrong, unusableTls } from '../errors.js';
import type { GatewayConfig, ListenConfig } from '../gateway-config.js';
import { sendError } from '../proxy/send-error.js';
import { requestIdOf } from '../request/request-facts.js';
import { answerBroken, refuseConnection } from './broken-http.js';
import { StalledClients } from './stalled-clients.js';
import { ambiguity, endsConnection } from './strict-request.js';

export interface ListenerParts {
  /** The most that a request line and its headers may have together. */
  headerBytes: number;
  /** Connections at a time; further ones are closed at once. */
  connections: number;
  /** For clients: to send their headers, to send the whole request, and to go on reading an answer. */
  timeouts: Pick<GatewayConfig['timeouts'], 'headersMs' | 'bodyMs' | 'idleMs'>;
  handler: RequestListener;
  /** For requests that want to be told to go on before they send their body; without it they are told so at once. */
  continueHandler?: RequestListener;
  /** Somebody whose request is no HTTP, or none that everybody would read alike, was told so. */
  refused(status: number): void;
}

/** Longer than clients keep an idle connection, so that none is closed under a request. */
const KEEP_ALIVE_MS = 75_000;
const OLDEST_TLS: SecureVersion = 'TLSv1.2';
/** How often connections are looked at, unless the time they have is so short that this would be late. */
const LOOK_MS = 1000;

/** A port that people or programs connect to, by plain HTTP or TLS. */
export class Listener {
  /** How long a client may take nothing of an answer that waits for it. */
  idleMs: number;
  /** Connections that were closed at once because there were too many. */
  dropped = 0;
  /** TLS handshakes that failed. */
  tlsFailures = 0;
  readonly #config: ListenConfig;
  readonly #server: Server;
  readonly #refused: ListenerParts['refused'];
  readonly #clients = new StalledClients();
  /** Connections that have sent something ambiguous: nothing more is read from their bytes. Null as long as none has. */
  #shut: WeakSet<Socket> | null = null;
  #watcher: NodeJS.Timeout | undefined;

  constructor(config: ListenConfig, parts: ListenerParts) {
    const { connections, timeouts } = parts;
    this.#config = config;
    this.#refused = parts.refused;
    this.idleMs = timeouts.idleMs;
    const options = serverOptions(parts.headerBytes, timeouts);
    const handler = this.#guarded(parts.handler);
    this.#server =
      config.tls === null
        ? createServer(options, handler)
        : (createTlsServer(
            { ...options, ...readTls(config.tls), minVersion: OLDEST_TLS, handshakeTimeout: timeouts.headersMs },
            handler,
          ) as Server);
    this.#server.maxConnections = connections;
    // Bytes are limited; beyond a number, headers would be left out in silence.
    this.#server.maxHeadersCount = 0;
    if (parts.continueHandler !== undefined) {
      this.#server.on('checkContinue', this.#guarded(parts.continueHandler));
    }
    this.#server.on('connect', (request, socket) => {
      parts.refused(refuseConnection(socket, methodWrong('CONNECT', request.url!, 'GET, POST')));
    });
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      const status = answerBroken(error, socket);
      if (status !== null) parts.refused(status);
    });
    this.#server.on(config.tls === null ? 'connection' : 'secureConnection', (socket: Socket) => {
      this.#clients.add(socket);
      socket.once('close', () => this.#clients.remove(socket));
    });
    this.#server.on('drop', () => {
      this.dropped++;
    });
    this.#server.on('tlsClientError', () => {
      this.tlsFailures++;
    });
  }

  /** Resolves when it listens; rejects when it cannot. */
  start(): Promise<void> {
    const { host, port } = this.#config;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        this.#watcher = setInterval(() => this.#clients.cut(performance.now(), this.idleMs), looks(this.idleMs));
        resolve();
      });
    });
  }

  get url(): string {
    const { host, tls } = this.#config;
    const { port } = this.#server.address() as AddressInfo;
    return `${tls === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  }

  /** Uses these files for new connections. */
  renew(files: TlsFiles): void {
    (this.#server as TlsServer).setSecureContext({ ...files, minVersion: OLDEST_TLS });
  }

  /** Listens no more; resolves when the last connection has ended. */
  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => {
        clearInterval(this.#watcher);
        resolve();
      });
      this.closeIdle();
    });
  }

  /** Closes connections on which nothing is under way. Those that were never used are no idle ones for the server. */
  closeIdle(): void {
    this.#server.closeIdleConnections();
    this.#clients.cutUnused();
  }

  cut(): void {
    this.#server.closeAllConnections();
  }

  /** The handler for requests that everybody reads alike. Others are refused, and so is all that follows them. */
  #guarded(handler: RequestListener): RequestListener {
    return (request, response) => {
      if (this.#shut?.has(request.socket)) return;
      const problem = ambiguity(request);
      if (problem === null) {
        if (endsConnection(request)) response.shouldKeepAlive = false;
        handler(request, response);
        return;
      }
      this.#shut ??= new WeakSet();
      this.#shut.add(request.socket);
      response.shouldKeepAlive = false;
      const error = new ApiError('malformed', `The request is not valid HTTP: ${problem}.`);
      sendError(response, error, requestIdOf(request.headers));
      this.#refused(error.status);
    };
  }
}

/** Strict whatever the process was started with. The time for headers is part of the time for the request. */
function serverOptions(
  headerBytes: number,
  { bodyMs, headersMs }: { bodyMs: number; headersMs: number },
): ServerOptions {
  return {
    insecureHTTPParser: false,
    maxHeaderSize: headerBytes,
    // A missing one is refused as other ambiguous requests are.
    requireHostHeader: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: Math.min(headersMs, bodyMs),
    requestTimeout: bodyMs,
    connectionsCheckingInterval: looks(Math.min(headersMs, bodyMs)),
    noDelay: true,
  };
}

function looks(longestMs: number): number {
  return Math.min(LOOK_MS, Math.ceil(longestMs / 4));
}

interface TlsFiles {
  cert: Buffer;
  key: Buffer;
}

/** A certificate and its key, read and tried; an InputError when they are of no use. */
export function readTls({ cert, key }: NonNullable<ListenConfig['tls']>): TlsFiles {
  const files = { cert: readPart(cert), key: readPart(key) };
  try {
    createSecureContext(files);
  } catch (error) {
    throw unusableTls(`${cert}, ${key}`, `no certificate and its key (${(error as Error).message})`);
  }
  return files;
}

function readPart(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw unusableTls(path, `cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
