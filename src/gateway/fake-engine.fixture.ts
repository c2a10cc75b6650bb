import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS, type GatewayConfig } from './config/gateway-config.js';
import { Gateway } from './gateway.js';

/** A request as an engine got it. */
export interface Seen {
  request: IncomingMessage;
  body: string;
  response: ServerResponse;
}

/** A scripted engine: real HTTP, made-up responses. */
export class FakeEngine {
  readonly seen: Seen[] = [];
  /** Its response to a prompt; the default is a small completion. */
  answer: (seen: Seen) => void = ({ response }) => sendJson(response, 200, { choices: [], from: this.url });
  health = 200;
  metrics = 'vllm:num_requests_running 0\nvllm:num_requests_waiting 0\nvllm:kv_cache_usage_perc 0\n';
  models = ['m'];
  /** Other responses, by path. */
  readonly pages = new Map<string, { status: number; text: string }>();
  url = '';
  /** May respond before the request body has been read; returns whether it did. */
  early: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  /** Paths that get no response. */
  readonly hangs = new Set<string>();
  readonly #server: Server;
  readonly #waiting: (() => void)[] = [];

  constructor() {
    this.#server = createServer((request, response) => this.#handle(request, response));
  }

  static async start(): Promise<FakeEngine> {
    const engine = new FakeEngine();
    await engine.listen(0);
    return engine;
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve) => {
      this.#server.listen(port, '127.0.0.1', () => {
        this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
        resolve();
      });
    });
  }

  /** Resolves when `count` prompts have arrived. */
  async got(count: number): Promise<Seen> {
    while (this.seen.length < count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.seen[count - 1]!;
  }

  /** Stops at once and cuts its connections. */
  kill(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    if (this.hangs.has(request.url!) || this.early(request, response)) return;
    const page = this.pages.get(request.url!);
    if (page !== undefined) response.writeHead(page.status).end(page.text);
    else if (request.url === '/health') sendJson(response, this.health, {});
    else if (request.url === '/metrics') response.end(this.metrics);
    else if (request.url === '/v1/models') sendJson(response, 200, { data: this.models.map((id) => ({ id })) });
    else {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (piece) => {
        body += piece;
      });
      request.on('end', () => {
        const seen = { request, body, response };
        this.seen.push(seen);
        for (const wake of this.#waiting.splice(0)) wake();
        this.answer(seen);
      });
    }
  }
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** A gateway on free ports with round-robin over some engines. */
/** Longer than a busy machine takes: only a test of a time-out has a shorter one. */
const PATIENT_MS = 120_000;

export function configFor(engines: readonly { url: string }[], change: Partial<GatewayConfig> = {}): GatewayConfig {
  return {
    ...GATEWAY_DEFAULTS,
    listen: { host: '127.0.0.1', port: 0, tls: null },
    admin: { host: '127.0.0.1', port: 0, tls: null },
    endpoints: [
      {
        name: 'default',
        policy: { ...DEFAULT_POLICY, name: 'round-robin' },
        replicas: engines.map(({ url }, i) => ({ id: `r${i}`, url, engine: 'vllm', models: null })),
      },
    ],
    slowStartMs: 0,
    health: { ...GATEWAY_DEFAULTS.health, timeoutMs: PATIENT_MS },
    timeouts: {
      ...GATEWAY_DEFAULTS.timeouts,
      ...{ connectMs: PATIENT_MS, headersMs: PATIENT_MS, firstByteFloorMs: GATEWAY_DEFAULTS.timeouts.firstByteMs },
    },
    ...change,
  };
}

export async function startGateway(
  engines: readonly { url: string }[],
  change: Partial<GatewayConfig> = {},
): Promise<Gateway> {
  const gateway = new Gateway(configFor(engines, change));
  await gateway.start();
  return gateway;
}

/** Resolves when a condition holds; the test's own timeout is the only clock. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
