import type { RequestListener } from 'node:http';
import type { GatewayConfig } from './gateway-config.js';
import { Listener, readTls } from './server/listener.js';

export interface PortHandlers {
  public: RequestListener;
  /** For clients that want to be told to go on before they send their body. */
  continue: RequestListener;
  admin: RequestListener;
  /** Somebody was told that his request is no valid HTTP. */
  refused(status: number): void;
}

/** Certificates and keys, for the ports that speak TLS. */
export interface PortFiles {
  public: ReturnType<typeof readTls> | null;
  admin: ReturnType<typeof readTls> | null;
}

/** The gateway's two ports: a public one for clients and one for its keepers. They start, renew and stop together. */
export class Ports {
  readonly #public: Listener;
  readonly #admin: Listener;

  /** An InputError when certificates are of no use. */
  constructor({ admin, limits, listen, timeouts }: GatewayConfig, handlers: PortHandlers) {
    const shared = { ...limits, timeouts, refused: handlers.refused };
    this.#public = new Listener(listen, {
      ...shared,
      handler: handlers.public,
      continueHandler: handlers.continue,
    });
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
    for (const listener of this.listeners) listener.idleMs = idleMs;
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
