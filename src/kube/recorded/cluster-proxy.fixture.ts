import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, type Dispatcher, request as send } from 'undici';
import type { KubeAccess } from '../access/kube-access.js';
import { ExchangeRecorder } from './exchange-recorder.fixture.js';
import { clientOf, isWatchCall } from './recorded-exchange.fixture.js';

/** Between a test and the API server of a real cluster: serves the logs of pods, which have no kubelet, and records the rest. */
export class ClusterProxy {
  readonly recorder: ExchangeRecorder | null;
  /** Watches stay open and pass nothing on. */
  isSilent = false;
  /** Watches begin at this version instead. */
  watchVersion: string | null = null;
  watches = 0;
  podLog: (pod: string, query: URLSearchParams, response: ServerResponse) => void = (_, __, response) => response.end();
  readonly #cluster: KubeAccess;
  readonly #agent: Agent;
  readonly #server: Server;
  /** Of the cluster; clients may bring their own. */
  readonly #authorization: string | null;

  private constructor(cluster: KubeAccess, authorization: string | null, recorded: { namespace: string } | null) {
    this.#cluster = cluster;
    this.#authorization = authorization;
    this.#agent = new Agent({ connect: { rejectUnauthorized: !cluster.skipsTlsVerify, ca: cluster.ca ?? undefined } });
    this.recorder = recorded === null ? null : new ExchangeRecorder(recorded.namespace);
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  static async start(cluster: KubeAccess, recorded: { namespace: string } | null): Promise<ClusterProxy> {
    const { authorization } = await cluster.credentials.read(false);
    const proxy = new ClusterProxy(cluster, authorization, recorded);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get access(): KubeAccess {
    const { port } = this.#server.address() as AddressInfo;
    const credentials = { read: () => Promise.resolve({ authorization: null }) };
    return { ...this.#cluster, server: `http://127.0.0.1:${port}`, credentials };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await this.#agent.destroy();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search, searchParams } = new URL(request.url ?? '/', 'http://kube');
    let text = '';
    for await (const chunk of request) text += chunk;
    const identity = request.headers.authorization ?? this.#authorization;
    const { by, path } = clientOf(pathname);
    const pod = /\/pods\/([^/]+)\/log$/.exec(pathname)?.[1];
    if (pod !== undefined && identity === this.#authorization) return this.podLog(pod, searchParams, response);
    const contentType = request.headers['content-type'];
    const method = request.method as 'GET';
    const call = { by, method, path, query: search.slice(1), contentType: contentType ?? '' };
    const body = text === '' ? null : JSON.parse(text);
    const number = pod === undefined ? this.recorder?.call({ ...call, body }) : undefined;
    const over = new AbortController();
    response.on('close', () => over.abort());
    const isWatch = isWatchCall(call);
    if (isWatch) this.watches++;
    if (isWatch && this.watchVersion !== null) searchParams.set('resourceVersion', this.watchVersion);
    const upstream = await send(`${this.#cluster.server}${path}?${searchParams}`, {
      method,
      headers: {
        ...(identity === null ? {} : { authorization: identity }),
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
      },
      body: text === '' ? null : text,
      dispatcher: this.#agent,
      signal: over.signal,
      bodyTimeout: 0,
    });
    // Allowed, and there is no kubelet to call.
    if (pod !== undefined && upstream.statusCode !== 403) {
      await upstream.body.dump();
      return this.podLog(pod, searchParams, response);
    }
    response.writeHead(upstream.statusCode, { 'content-type': String(upstream.headers['content-type']) });
    response.flushHeaders();
    if (isWatch) await this.#passWatch(upstream, response, number);
    else {
      const whole = await upstream.body.text();
      if (number !== undefined) this.recorder!.response(number, upstream.statusCode, whole);
      response.end(whole);
    }
  }

  async #passWatch({ body }: Dispatcher.ResponseData, response: ServerResponse, number: number | undefined) {
    let rest = '';
    for await (const chunk of body.setEncoding('utf8')) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        if (number !== undefined) this.recorder!.event(number, line);
        if (!this.isSilent) response.write(`${line}\n`);
      }
    }
    if (!this.isSilent) response.end(rest);
  }
}
