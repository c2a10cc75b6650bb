import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect } from 'vitest';
import { serveApi } from '../../src/api/api-server.js';
import type { GatewayConfig } from '../../src/gateway/config/gateway-config.js';
import { startGateway } from '../../src/gateway/fake-engine.fixture.js';
import type { Gateway } from '../../src/gateway/gateway.js';

const opened: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** Run after the test, the last first. */
export function afterwards(close: () => Promise<unknown>): void {
  opened.push(close);
}

/** A gateway in front of some engines, closed after the test. */
export async function gatewayOver(
  engines: readonly { url: string }[],
  change: Partial<GatewayConfig> = {},
): Promise<Gateway> {
  const gateway = await startGateway(engines, change);
  gateway.api = serveApi(gateway);
  afterwards(() => gateway.close(0));
  return gateway;
}

/** Asserts that nothing is booked any more. */
export function expectIdle(gateway: Gateway): void {
  expect(gateway.inFlight).toBe(0);
  for (const endpoint of gateway.endpoints.values()) {
    expect(endpoint.inFlight).toBe(0);
    for (const replica of endpoint.replicas) expect([replica.active, endpoint.inFlightOf(replica)]).toEqual([0, 0]);
  }
  for (const replica of gateway.fleet.leaving()) expect(replica.active).toBe(0);
}

/** A request as a replica received it, down to the bytes. */
export interface RawRequest {
  text: string;
  socket: Socket;
}

/** A healthy replica of `m` that sends the response bytes of the test. */
export class RawReplica {
  url = '';
  readonly seen: RawRequest[] = [];
  /** Connections that were ever made to it. */
  connections = 0;
  /** Called as soon as the headers of a prompt are there. */
  response: (request: RawRequest) => void = ({ socket }) => void socket.write(plain('{}'));
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor() {
    this.#server = createServer((socket) => {
      this.connections++;
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => {});
      let text = '';
      socket.on('data', (piece) => {
        text += piece.toString('latin1');
        for (;;) {
          const end = text.indexOf('\r\n\r\n');
          if (end < 0) return;
          const length = Number(/content-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0);
          const isPrompt = text.startsWith('POST');
          if (!isPrompt) socket.write(plain(text.startsWith('GET /v1/models') ? '{"data":[{"id":"m"}]}' : '{}'));
          else if (text.length < end + 4 + length) return;
          else {
            const request = { text: text.slice(0, end + 4 + length), socket };
            this.seen.push(request);
            this.response(request);
          }
          text = text.slice(end + 4 + length);
        }
      });
    });
  }

  static async start(): Promise<RawReplica> {
    const replica = new RawReplica();
    await new Promise<void>((resolve) => replica.#server.listen(0, '127.0.0.1', resolve));
    replica.url = `http://127.0.0.1:${(replica.#server.address() as { port: number }).port}`;
    afterwards(async () => {
      replica.#server.close();
      for (const socket of replica.#sockets) socket.destroy();
    });
    return replica;
  }
}

/** A whole response with its length. */
export function plain(body: string, status = '200 OK', headers = ''): string {
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** A client that sends raw bytes. */
export class RawClient {
  readonly socket: Socket;
  text = '';
  isClosed = false;
  #wake: () => void = () => {};

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect(Number(port), hostname);
    this.socket.on('data', (piece) => {
      this.text += piece.toString('latin1');
      this.#wake();
    });
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.isClosed = true;
      this.#wake();
    });
    afterwards(async () => this.socket.destroy());
  }

  send(text: string): this {
    this.socket.write(text, 'latin1');
    return this;
  }

  /** Resolves when what has come matches, or the connection is closed. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.text) && !this.isClosed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.text;
  }

  /** Resolves with all that came when the connection is closed. */
  closed(): Promise<string> {
    return this.until(/(?!)/);
  }
}

/** A request as bytes. */
export function postText(body: string, headers = '', path = '/v1/completions'): string {
  return `POST ${path} HTTP/1.1\r\nhost: h\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

export const PROMPT = '{"model":"m","prompt":"hello"}';

/** Sends a prompt by fetch. */
export function ask(gateway: Gateway, body: object | string = PROMPT, init: RequestInit = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(`${gateway.url}/v1/completions`, { method: 'POST', body: text, ...init });
}
