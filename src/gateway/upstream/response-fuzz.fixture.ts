import { Agent, type IncomingMessage, request as nodeRequest } from 'node:http';
import { MemorySocket } from '../wire/memory-socket.fixture.js';
import { cut, type Draw, framedBody, mutated, plainFields } from '../wire/mutate-bytes.fixture.js';
import { ResponseParser } from './response-parser.js';

/** The bytes of a connection after one request. */
export interface ResponseCase {
  isHead: boolean;
  pieces: Buffer[];
}

/** What a client read from them. */
export interface SeenResponse {
  status: number;
  headers: string[];
  body: string;
  /** Why the response is not complete; empty when it is. */
  problem: string;
}

const STATUSES = [
  '200 OK',
  '201 Created',
  '204 No Content',
  '304 Not Modified',
  '404',
  '500 ',
  '503 \xfcnwell',
  '418 x',
];
const HEADER_BYTES = 16_384;

/** A response, most often changed somewhere, in pieces. */
export function responseCase(draw: Draw): ResponseCase {
  const interim = draw.chance(0.1) ? 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1 + draw.below(2)) : '';
  const { bytes, field } = draw.chance(0.9) ? framedBody(draw) : { bytes: draw.text('abc\r\n', 20), field: '' };
  const connection = draw.chance(0.2) ? `Connection: ${draw.of(['close', 'keep-alive'])}\r\n` : '';
  const version = field.startsWith('T') || draw.chance(0.9) ? '1.1' : '1.0';
  const head = `HTTP/${version} ${draw.of(STATUSES)}\r\n${plainFields(draw)}${connection}${field}\r\n`;
  const text = interim + head + bytes;
  return { isHead: draw.chance(0.1), pieces: cut(draw.chance(0.7) ? mutated(text, draw) : text, draw) };
}

/** What the parser of the gateway reads. */
export function seenByUs({ isHead, pieces }: ResponseCase): SeenResponse {
  const seen: SeenResponse = { status: 0, headers: [], body: '', problem: 'incomplete' };
  const parser = new ResponseParser(HEADER_BYTES, {
    onHeaders(status, headers) {
      seen.status = status;
      seen.headers = headers;
    },
    onData(data) {
      seen.body += data.toString('latin1');
    },
    onEnd() {
      seen.problem = '';
    },
  });
  parser.begin(isHead);
  try {
    for (const piece of pieces) {
      if (parser.isDone) return seen;
      // The buffer of a socket is overwritten by the next read.
      const bytes = Buffer.from(piece);
      parser.read(bytes, bytes.length);
      bytes.fill(0x58);
    }
    if (!parser.isDone) parser.end();
  } catch (error) {
    seen.problem = (error as Error).message;
  }
  return seen;
}

/** What the client of Node.js reads. */
export function seenByNode({ isHead, pieces }: ResponseCase): Promise<SeenResponse> {
  return new Promise((resolve) => {
    const socket = new MemorySocket();
    const agent = Object.assign(new Agent(), { createConnection: () => socket });
    const parts: Buffer[] = [];
    let response: IncomingMessage | undefined;
    const settle = (problem: string) => {
      const { rawHeaders = [], statusCode = 0 } = response ?? {};
      resolve({ status: statusCode, headers: rawHeaders, body: Buffer.concat(parts).toString('latin1'), problem });
    };
    const failed = ({ code, message }: Error & { code?: string }) => {
      // Bytes after a complete response are an error of the connection: the response is still complete.
      if (!response?.complete) settle(code ?? message);
    };
    const request = nodeRequest({ method: isHead ? 'HEAD' : 'GET', maxHeaderSize: HEADER_BYTES, agent }, (incoming) => {
      response = incoming;
      incoming.on('data', (piece: Buffer) => parts.push(piece));
      incoming.on('error', failed);
      incoming.on('close', () => settle(incoming.complete ? '' : 'incomplete'));
    });
    request.maxHeadersCount = 0;
    request.on('error', failed);
    request.end();
    void socket.feed(pieces);
  });
}
