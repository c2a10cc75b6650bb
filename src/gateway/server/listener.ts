import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';
import { unusableTls } from '../errors.js';
import type { ListenConfig } from '../gateway-config.js';
import { answerBroken } from './broken-http.js';

export interface ListenerParts {
  /** The most that a request line and its headers may have together. */
  headerBytes: number;
  handler: RequestListener;
  /** For requests that want to be told to go on before they send their body; without it they are told so at once. */
  continueHandler?: RequestListener;
  /** Somebody who does not speak HTTP was told so. */
  refused(status: number): void;
}

/** Longer than clients keep an idle connection, so that none is closed under a request. */
const KEEP_ALIVE_MS = 75_000;

/** A port that people or programs connect to, by plain HTTP or TLS. */
export class Listener {
  readonly #config: ListenConfig;
  readonly #server: Server;

  constructor(config: ListenConfig, { continueHandler, handler, headerBytes, refused }: ListenerParts) {
    const options = { maxHeaderSize: headerBytes, keepAliveTimeout: KEEP_ALIVE_MS, noDelay: true };
    this.#config = config;
    this.#server =
      config.tls === null
        ? createServer(options, handler)
        : (createTlsServer({ ...options, ...readTls(config.tls) }, handler) as Server);
    if (continueHandler !== undefined) this.#server.on('checkContinue', continueHandler);
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      const status = answerBroken(error, socket);
      if (status !== null) refused(status);
    });
  }

  /** Resolves when it listens; rejects when it cannot. */
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

  /** Uses these files for new connections. */
  renew(files: TlsFiles): void {
    (this.#server as TlsServer).setSecureContext(files);
  }

  /** Listens no more; resolves when the last connection has ended. */
  stop(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  closeIdle(): void {
    this.#server.closeIdleConnections();
  }

  cut(): void {
    this.#server.closeAllConnections();
  }
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
