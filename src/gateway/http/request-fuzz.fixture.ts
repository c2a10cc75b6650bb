import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { MemorySocket } from '../wire/memory-socket.fixture.js';
import { cut, type Draw, framedBody, mutated, plainFields } from '../wire/mutate-bytes.fixture.js';
import type { ConnectionHost } from './connection-host.js';
import { HttpConnection } from './http-connection.js';
import { RequestHead } from './request-head.js';
import { ResponseWriter } from './response-writer.js';

/** A request as a handler got it. */
export interface SeenRequest {
  method: string;
  target: string;
  minor: number;
  headers: string[];
  /** Null when it is incomplete. */
  body: string | null;
}

/** Stands for a request whose expectation was refused. */
export const REFUSED_EXPECTATION: SeenRequest = { method: '', target: '', minor: 1, headers: [], body: '417' };

/** What a server read from the bytes of a connection. */
export interface Seen {
  /** In their order, up to the first that is incomplete. */
  requests: SeenRequest[];
  /** Why it read no further; empty when it read everything and a request ended where the bytes ended. */
  refusal: string;
}

const MOST_BYTES = 1e9;
const HEADER_BYTES = 16_384;
/** Without HEAD: the reason of a refusal would not be in its response. */
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'];

/** The bytes of a connection: pipelined requests, most of them changed somewhere, in pieces. */
export function requestCase(draw: Draw): Buffer[] {
  const text = Array.from({ length: 1 + draw.below(4) }, () => validRequest(draw)).join('');
  return cut(draw.chance(0.85) ? mutated(text, draw) : text, draw);
}

function validRequest(draw: Draw): string {
  const method = draw.of(METHODS);
  const { bytes, field } = draw.chance(0.5) ? framedBody(draw) : { bytes: '', field: '' };
  const version = field.startsWith('T') || draw.chance(0.9) ? '1.1' : '1.0';
  const connection = draw.chance(0.15) ? `Connection: ${draw.of(['close', 'keep-alive', 'Keep-Alive', 'x'])}\r\n` : '';
  const expect = draw.chance(0.05) ? 'Expect: 100-continue\r\n' : '';
  const fields = [`Host: ${draw.of(['h', '127.0.0.1:80'])}\r\n`, plainFields(draw), connection, expect, field];
  const path = draw.text('abc/?=&%20.-_~\'"', 12);
  return `${method} /${path} HTTP/${version}\r\n${fields.join('')}\r\n${bytes}`;
}

/** What the gateway's server reads. */
export async function seenByUs(pieces: readonly Buffer[]): Promise<Seen> {
  const seen: Seen = { requests: [], refusal: '' };
  const socket = new MemorySocket();
  const host: ConnectionHost = {
    reader: new RequestHead(HEADER_BYTES),
    writer: new ResponseWriter(),
    isSecure: true,
    isStopping: false,
    isHandingOver: false,
    discardBytes: MOST_BYTES,
    mostAhead: 32,
    handle(request, response) {
      const { method, minor, rawHeaders, url } = request;
      const entry: SeenRequest = { method, target: url, minor, headers: rawHeaders, body: null };
      seen.requests.push(entry);
      request.collect(MOST_BYTES, (body) => {
        entry.body = body!.toString('latin1');
        response.writeHead(200, ['content-length', '0']);
        response.end();
      });
    },
    refused(status) {
      if (status === 417) seen.requests.push(REFUSED_EXPECTATION);
      else seen.refusal = String(status);
    },
    fault(error) {
      throw error;
    },
    left() {},
  };
  new HttpConnection(socket as unknown as Socket, host);
  await socket.feed(pieces);
  await socket.done;
  if (seen.refusal !== '') seen.refusal = /: it ([^"]*)\."/.exec(socket.text)?.[1] ?? seen.refusal;
  return complete(seen);
}

const byConnection = new WeakMap<object, Seen>();
const server = createServer({
  maxHeaderSize: HEADER_BYTES,
  requireHostHeader: false,
  keepAliveTimeout: 0,
  headersTimeout: 0,
  requestTimeout: 0,
});
server.maxHeadersCount = 0;
for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
  server.on(event, (incoming, outgoing) => {
    const { httpVersionMinor: minor, method, rawHeaders, socket, url } = incoming;
    const seen = byConnection.get(socket)!;
    if (seen.refusal !== '') return;
    // Node's own check of the host lets later requests through.
    if (minor === 1 && incoming.headers.host === undefined) {
      seen.refusal = 'no host';
      return;
    }
    const entry: SeenRequest = { method: method!, target: url!, minor, headers: rawHeaders, body: null };
    seen.requests.push(event === 'checkExpectation' ? REFUSED_EXPECTATION : entry);
    const pieces: Buffer[] = [];
    if (event === 'checkContinue') outgoing.writeContinue();
    incoming.on('data', (piece: Buffer) => pieces.push(piece));
    incoming.on('error', () => {});
    incoming.on('end', () => {
      entry.body = Buffer.concat(pieces).toString('latin1');
      outgoing.writeHead(200, ['content-length', '0']).end();
    });
  });
}
server.on('connect', (incoming) => {
  byConnection.get(incoming.socket)!.refusal ||= 'CONNECT';
});
server.on('clientError', (error: Error & { code?: string }, socket) => {
  byConnection.get(socket)!.refusal ||= error.code ?? error.message;
  // The bodies before it are still delivered.
  setImmediate(() => setImmediate(() => socket.destroy()));
});

/** What Node's server reads. */
export async function seenByNode(pieces: readonly Buffer[]): Promise<Seen> {
  const seen: Seen = { requests: [], refusal: '' };
  const socket = new MemorySocket();
  byConnection.set(socket, seen);
  server.emit('connection', socket);
  await socket.feed(pieces);
  await socket.done;
  return complete(seen);
}

/** Keeps the complete requests. */
function complete({ refusal, requests }: Seen): Seen {
  const end = requests.findIndex(({ body }) => body === null);
  if (end < 0) return { refusal, requests };
  return { refusal: refusal === '' ? 'incomplete' : refusal, requests: requests.slice(0, end) };
}
