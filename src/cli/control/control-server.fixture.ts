import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Caller } from '../../api/access/caller.js';
import { ApiHost } from '../../api/api-host.js';
import { FakeRunner } from '../../api/fake-runner.fixture.js';
import { respond } from '../../api/respond.js';
import { ChangeFeed } from '../../control/change-feed.js';
import type { ControlHost } from '../../control/control-plane.js';
import { ControlStore } from '../../control/store/control-store.js';
import { installDefaults } from '../../control/store/install-defaults.js';
import { openStore, type Store } from '../../store/open-store.js';
import { SecretBox } from '../../store/resources/secrets.js';

export const ADMIN_TOKEN = 'the-admin-token';
export const VIEWER_TOKEN = 'a-viewers-key';
export const NOBODY_TOKEN = 'a-key-without-a-role';

const CALLERS: Readonly<Record<string, Caller>> = {
  [`Bearer ${ADMIN_TOKEN}`]: { name: 'admin', role: 'admin', workspaces: new Map() },
  [`Bearer ${VIEWER_TOKEN}`]: { name: 'eve', role: 'viewer', workspaces: new Map() },
  [`Bearer ${NOBODY_TOKEN}`]: { name: 'bob', role: 'none', workspaces: new Map() },
};

const UNAUTHENTICATED = {
  code: 'API_UNAUTHENTICATED',
  message: 'the admin token, or an API key with a role, is missing or wrong',
  hint: '',
};

/** The control API on its own port, without reconcilers: tests set the observed state. */
export class FakeControlServer {
  readonly runner = new FakeRunner();
  /** The replicas that were drained. */
  readonly drained: string[] = [];
  /** Streams that are open. */
  streams = 0;
  host!: ControlHost;
  #api!: ApiHost;
  #store!: Store;
  #http!: Server;
  #port = 0;

  /** @param folder gets the `.twinyard` that commands find it by */
  static async start(folder: string): Promise<FakeControlServer> {
    const server = new FakeControlServer();
    server.#store = await openStore(':memory:');
    const store = new ControlStore(server.#store, SecretBox.open(join(folder, '.twinyard', 'secrets.key')));
    await installDefaults(store);
    const feed = await ChangeFeed.open(store.resources);
    server.host = { store, feed, runner: server.runner, drain: (_, replica) => server.drained.push(replica) > 0 };
    const control = Promise.resolve({ host: server.host });
    server.#api = new ApiHost({ store: server.#store, gateway: null, control });
    await server.listen();
    server.announce(folder);
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Says where it is, as a gateway does. */
  announce(folder: string): void {
    mkdirSync(join(folder, '.twinyard'), { recursive: true });
    writeFileSync(join(folder, '.twinyard', 'admin.json'), JSON.stringify({ url: this.url, token: ADMIN_TOKEN }));
  }

  /** On the port it had before, if it had one. */
  async listen(): Promise<void> {
    this.#http = createServer((request, response) => {
      this.#respond(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => this.#http.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (this.#http.address() as AddressInfo).port;
  }

  /** As a process that is killed. */
  async hangUp(): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  /** Forgets earlier changes, as a process that starts again: its feed begins with the version of the store. */
  async forget(): Promise<void> {
    this.host.feed.close();
    Object.assign(this.host, { feed: await ChangeFeed.open(this.host.store.resources) });
  }

  async close(): Promise<void> {
    this.host.feed.close();
    await this.hangUp();
    await this.#store.close();
  }

  /** Says how an endpoint of the workspace `default` is, as of its present generation. */
  async say(name: string, phase: string, more: object = {}): Promise<void> {
    const ref = { kind: 'Endpoint', workspace: 'default', name };
    const { generation, uid } = (await this.host.store.get(ref))!.metadata;
    await this.host.store.putStatus(ref, uid!, { phase, observed_generation: generation, ...more });
  }

  /** Removes a resource of the workspace `default` as soon as its deletion was requested. */
  async takeDown(name: string, kind = 'Endpoint'): Promise<void> {
    const { store } = this.host;
    const ref = { kind, workspace: kind === 'Workspace' ? '' : 'default', name };
    const { uid } = (await store.get(ref))!.metadata;
    while (!(await store.remove(ref, uid!))) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const caller = CALLERS[request.headers.authorization ?? ''];
    const left = new AbortController();
    response.on('close', () => left.abort());
    const { pathname, searchParams } = new URL(request.url!, this.url);
    const reply =
      caller === undefined
        ? { status: 401, body: { error: UNAUTHENTICATED } }
        : await respond(this.#api, caller, {
            ...{ method: request.method!, path: pathname, query: searchParams, signal: left.signal },
            header: (name) => request.headers[name] as string | undefined,
            body: () => text(request),
          });
    if (!('stream' in reply)) {
      response.writeHead(reply.status, { 'content-type': 'application/json' }).end(JSON.stringify(reply.body));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    this.streams++;
    for await (const event of reply.stream) response.write(event);
    this.streams--;
    response.end();
  }
}
