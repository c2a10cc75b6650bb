import type { GatewayConfig } from './config/gateway-config.js';
import { proxyList } from './config/proxy-list.js';
import { readTls, type TlsFiles } from './config/read-tls.js';
import type { InheritedSockets } from './server/inherited-sockets.js';
import { Listener, type RequestHandler } from './server/listener.js';

export interface PortHandlers {
  public: RequestHandler;
  admin: RequestHandler;
  /** A request that is not valid HTTP was refused. */
  refused(status: number): void;
  fault(error: unknown): void;
}

/** Certificates and keys, for the ports with TLS. */
export interface PortFiles {
  public: TlsFiles | null;
  admin: TlsFiles | null;
}

/** How long idle clients may still send a request when the next process has the socket. */
const HAND_OVER_MS = 1000;

/** Pipelined requests of clients: what is held of their responses is small, because engines wait for readers. */
const MOST_AHEAD = 32;

/** The gateway's two ports: one for clients and one for operators. They start, renew and stop together. */
export class Ports {
  readonly #public: Listener;
  readonly #admin: Listener;

  /** Throws an InputError when certificates are unusable. */
  constructor({ admin, http, limits, listen, timeouts }: GatewayConfig, handlers: PortHandlers) {
    const { fault, refused } = handlers;
    // A client that sends twice the limit is disconnected without waiting for its end.
    const uncapped = proxyList(http.trustedProxies);
    const shared = { ...limits, uncapped, discardBytes: 2 * limits.bodyBytes, timeouts, refused, fault };
    this.#public = new Listener(listen, { ...shared, mostAhead: MOST_AHEAD, handler: handlers.public });
    // Its responses are made as a whole: behind a stream, which may never end, they would be held.
    this.#admin = new Listener(admin, { ...shared, mostAhead: 1, handler: handlers.admin });
  }

  get listeners(): Listener[] {
    return [this.#public, this.#admin];
  }

  get url(): string {
    return this.#public.url;
  }

  get adminUrl(): string {
    return this.#admin.url;
  }

  async start(sockets: InheritedSockets): Promise<void> {
    await Promise.all([this.#public.start(sockets.public), this.#admin.start(sockets.admin)]);
  }

  /** Leaves new clients to the next process where that has the socket; see `Listener.handOver`. Null where it has not. */
  handOver(withinMs: number): Promise<void> | null {
    return this.#public.handOver(Math.min(HAND_OVER_MS, withinMs));
  }

  /** Reads the certificates of a configuration before anything changes; throws an InputError when they are unusable. */
  readFiles({ admin, listen }: GatewayConfig): PortFiles {
    return { public: listen.tls && readTls(listen.tls), admin: admin.tls && readTls(admin.tls) };
  }

  /** New connections use these files. */
  renew(files: PortFiles, { idleMs }: GatewayConfig['timeouts']): void {
    if (files.public) this.#public.renew(files.public);
    if (files.admin) this.#admin.renew(files.admin);
    for (const listener of this.listeners) listener.times.idleMs = idleMs;
  }

  /** Stops listening; resolves when the last connection has ended. */
  async stop(): Promise<void> {
    await Promise.all([this.#public.stop(), this.#admin.stop()]);
  }

  closeIdle(): void {
    this.#public.closeIdle();
    this.#admin.closeIdle();
  }

  /** After the refusals of timed-out requests, which are sent at the end of this turn. */
  cutSoon(): void {
    setImmediate(() => {
      this.#public.cut();
      this.#admin.cut();
    });
  }
}
