import { type AddressInfo, BlockList, connect, createServer, type Socket } from 'node:net';
import { afterEach } from 'vitest';
import { until } from '../fake-engine.fixture.js';
import { Listener, type ListenerParts, type RequestHandler } from '../server/listener.js';
import { HttpConnection } from './http-connection.js';
import type { HttpResponse } from './http-response.js';
import { RequestHead } from './request-head.js';
import { ResponseWriter } from './response-writer.js';

/** Longer than any test. */
export const LONG = { headersMs: 60_000, bodyMs: 60_000, idleMs: 60_000 };

const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** A port, and the errors it reported. */
export async function port(handler: RequestHandler, change: Partial<ListenerParts> = {}) {
  const faults: unknown[] = [];
  const refused: number[] = [];
  const listener = new Listener(
    { host: '127.0.0.1', port: 0, tls: null },
    {
      headerBytes: 4096,
      discardBytes: 100_000,
      mostAhead: 32,
      connections: 100,
      connectionsPerAddress: 100,
      uncapped: new BlockList(),
      timeouts: LONG,
      handler,
      refused: (status) => refused.push(status),
      fault: (error) => faults.push(error),
      ...change,
    },
  );
  await listener.start();
  opened.push(async () => {
    const stopped = listener.stop();
    listener.cut();
    await stopped;
  });
  return { listener, faults, refused };
}

/** A client that sends raw bytes. */
export class Client {
  text = '';
  isClosed = false;
  readonly socket: Socket;

  constructor({ url }: Pick<Listener, 'url'>) {
    this.socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
    this.socket.on('data', (piece) => {
      this.text += piece.toString('latin1');
    });
    this.socket.on('end', () => this.socket.end());
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.isClosed = true;
    });
    opened.push(() => void this.socket.destroy());
  }

  send(text: string): this {
    this.socket.write(text, 'latin1');
    return this;
  }

  async has(pattern: RegExp): Promise<string> {
    await until(() => pattern.test(this.text));
    return this.text;
  }

  async closed(): Promise<string> {
    await until(() => this.isClosed);
    return this.text;
  }
}

/** A connection with a manual clock, and its client. */
export async function timed(handle: RequestHandler) {
  const refused: number[] = [];
  const host = { reader: new RequestHead(4096), writer: new ResponseWriter(), isSecure: false };
  const state = { isStopping: false, isHandingOver: false };
  const rest = {
    discardBytes: 100_000,
    mostAhead: 32,
    handle,
    refused: (status: number) => refused.push(status),
    left: () => {},
  };
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  await new Promise((resolve) => server.once('listening', resolve));
  opened.push(() => void server.close());
  const client = new Client({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  const socket = await accepted;
  const fault = (error: unknown) => {
    throw error;
  };
  const connection = new HttpConnection(socket, Object.assign(state, { ...host, ...rest, fault }));
  const times = { headersMs: 10, bodyMs: 100, idleMs: 60_000 };
  return {
    client,
    refused,
    socket,
    state,
    check: (nowMs: number) => connection.check(nowMs, times),
    /** Sends bytes and waits until they have arrived. */
    send: async (text: string) => {
      const bytes = socket.bytesRead + text.length;
      client.send(text);
      await until(() => socket.bytesRead === bytes);
    },
  };
}

/** Requests as bytes. */
export const get = (path: string, headers = '', version = '1.1') =>
  `GET ${path} HTTP/${version}\r\nhost: h\r\n${headers}\r\n`;
export const post = (body: string, headers = '') =>
  `POST / HTTP/1.1\r\nhost: h\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`;
const HEAD = /HTTP\/1\.1 \d{3} [^\r]*\r\n(?:[^\r]+\r\n)*\r\n/g;
/** Responses with heads in one spelling: names in lower case, lines in order, without date and keep-alive. */
export const bare = (text: string) =>
  text.replace(HEAD, (head) => {
    const [status, ...lines] = head.slice(0, -4).split('\r\n');
    const fields = lines.map((line) => line.replace(/^[^:]*/, (name) => name.toLowerCase())).sort();
    return [status, ...fields.filter((line) => !/^(date|keep-alive):/.test(line)), '', ''].join('\r\n');
  });

/** Responds with a text. */
export function reply(response: HttpResponse, text: string, status = 200): void {
  response.writeHead(status, ['content-length', String(Buffer.byteLength(text))]);
  response.end(text);
}
