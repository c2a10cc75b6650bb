import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { KubeAccess } from './access/kube-access.js';
import type { KubeObject } from './kube-object.js';

/** A list or watch as it arrived. */
export interface SeenCall {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly isWatch: boolean;
  readonly authorization: string | undefined;
}

/** One list page, or the start of a watch; the test decides what is sent. */
export type Responder = (call: SeenCall, response: ServerResponse) => void;

/** An API server on loopback that misbehaves as a test says. Watches stay open until the test ends them. */
export class FakeApiServer {
  readonly calls: SeenCall[] = [];
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();
  /** The open watches, the oldest first. */
  readonly watches: (ServerResponse & { readonly path?: string })[] = [];

  private constructor(respond: (server: FakeApiServer) => Responder) {
    const responder = respond(this);
    this.#server = createServer((request, response) => {
      const call = seen(request);
      this.calls.push(call);
      if (call.isWatch) {
        this.watches.push(Object.assign(response, { path: call.path }));
        response.on('close', () => {
          const at = this.watches.indexOf(response);
          if (at >= 0) this.watches.splice(at, 1);
        });
      }
      responder(call, response);
      for (const wake of [...this.#waiting]) wake();
    });
  }

  static async start(respond: (server: FakeApiServer) => Responder): Promise<FakeApiServer> {
    const server = new FakeApiServer(respond);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get access(): KubeAccess {
    const { port } = this.#server.address() as AddressInfo;
    return {
      server: `http://127.0.0.1:${port}`,
      ca: null,
      skipsTlsVerify: false,
      tlsServerName: null,
      namespace: 'default',
      credentials: { read: (isRefused) => Promise.resolve({ authorization: isRefused ? 'Bearer new' : 'Bearer old' }) },
    };
  }

  get lists(): SeenCall[] {
    return this.calls.filter(({ isWatch }) => !isWatch);
  }

  /** Resolves as soon as the calls fulfil a condition. */
  until(isFulfilled: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        if (!isFulfilled()) return;
        this.#waiting.delete(wake);
        resolve();
      };
      this.#waiting.add(wake);
      wake();
    });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function seen(request: IncomingMessage): SeenCall {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://kube');
  const isWatch = searchParams.get('watch') === 'true';
  return { path: pathname, query: searchParams, isWatch, authorization: request.headers.authorization };
}

export const listOf = (version: string, items: readonly KubeObject[], next = '') =>
  JSON.stringify({ kind: 'List', metadata: { resourceVersion: version, continue: next }, items });

export const eventLine = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;

export const fakeObject = (name: string, resourceVersion: string, uid = name): KubeObject => ({
  metadata: { name, namespace: 'default', uid, resourceVersion },
});
