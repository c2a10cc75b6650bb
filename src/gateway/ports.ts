import type { GatewayConfig } from './config/gateway-config.js';
import { Listener, type RequestHandler } from './server/listener.js';
import { readTls, type TlsFiles } from './server/read-tls.js';

export interface PortHandlers {
  public: RequestHandler;
  admin: RequestHandler;
  /** Somebody was told that his request is no valid HTTP. */
  refused(status: number): void;
  fault(error: unknown): void;
}

/** Certificates and keys, for the ports that speak TLS. */
export interface PortFiles {
  public: TlsFiles | null;
  admin: TlsFiles | null;
}

/** The gateway's two ports: a public one for clients and one for its keepers. They start, renew and stop together. */
export class Ports {
  readonly #public: Listener;
  readonly #admin: Listener;

  /** An InputError when certificates are of no use. */
  constructor({ admin, limits, listen, timeouts }: GatewayConfig, handlers: PortHandlers) {
    const { fault, refused } = handlers;
    // Whoever sends twice what may be sent does not mean to hear the response.
    const shared = { ...limits, discardBytes: 2 * limits.bodyBytes, timeouts, refused, fault };
    this.#public = new Listener(listen, { ...shared, handler: handlers.public });
    this.#admin = new Listener(admin, { ...shared, handler: handlers.admin });
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

  async start(): Promise<void> {
    await Promise.all([this.#public.start(), this.#admin.start()]);
  }

  /** Reads what a configuration names, before anything changes; an InputError when it is of no use. */
  readFiles({ admin, listen }: GatewayConfig): PortFiles {
    return { public: listen.tls && readTls(listen.tls), admin: admin.tls && readTls(admin.tls) };
  }

  /** New connections use these files. */
  renew(files: PortFiles, { idleMs }: GatewayConfig['timeouts']): void {
    if (files.public) this.#public.renew(files.public);
    if (files.admin) this.#admin.renew(files.admin);
    for (const listener of this.listeners) listener.times.idleMs = idleMs;
  }

  /** Listens no more; resolves when the last connection has ended. */
  async stop(): Promise<void> {
    await Promise.all([this.#public.stop(), this.#admin.stop()]);
  }

  closeIdle(): void {
    this.#public.closeIdle();
    this.#admin.closeIdle();
  }

  /** Behind what those who were told that their time is over get at the end of this turn. */
  cutSoon(): void {
    setImmediate(() => {
      this.#public.cut();
      this.#admin.cut();
    });
  }
}
