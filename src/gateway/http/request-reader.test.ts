import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RequestHead } from './request-head.js';
import { RequestReader, type RequestSink } from './request-reader.js';

interface Heard {
  method: string;
  target: string;
  minor: number;
  headers: string[];
  body: string;
  isWhole: boolean;
}

/** Records every callback, and accepts a limited number of requests. */
class Ears implements RequestSink {
  readonly requests: Heard[] = [];
  most = Number.POSITIVE_INFINITY;
  #isEnded = true;

  get isReady(): boolean {
    return !this.#isEnded || this.requests.length < this.most;
  }

  onHead({ headers, method, minor, target }: RequestHead, whole: Buffer | null): void {
    const body = whole?.toString('latin1') ?? '';
    this.requests.push({ method, target, minor, headers, body, isWhole: whole !== null });
    this.#isEnded = whole !== null;
  }

  onPiece(piece: Buffer): void {
    expect(this.#isEnded).toBe(false);
    expect(piece.length).toBeGreaterThan(0);
    this.requests.at(-1)!.body += piece.toString('latin1');
  }

  onEnd(): void {
    this.#isEnded = true;
    this.requests.at(-1)!.isWhole = true;
  }
}

function heard(pieces: readonly Buffer[], limit = 1000): Heard[] {
  const ears = new Ears();
  const reader = new RequestReader(new RequestHead(limit), ears);
  for (const piece of pieces) expect(reader.read(piece)).toBe(piece.length);
  return ears.requests;
}

const WIRE = Buffer.from(
  [
    'POST /a?b=c HTTP/1.1\r\nHost: h\r\nX-Empty:\r\nx-blank:  \t v w \t\r\ncontent-length: 5\r\n\r\nhello',
    'GET / HTTP/1.1\r\nhost: h\r\n\r\n',
    '\r\nPUT /c HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0A\r\n0123456789\r\n0\r\nx-sum: 1\r\n\r\n',
    'OPTIONS * HTTP/1.0\r\n\r\n',
  ].join(''),
);
const REQUESTS: Heard[] = [
  {
    method: 'POST',
    target: '/a?b=c',
    minor: 1,
    headers: ['Host', 'h', 'X-Empty', '', 'x-blank', 'v w', 'content-length', '5'],
    body: 'hello',
    isWhole: true,
  },
  { method: 'GET', target: '/', minor: 1, headers: ['host', 'h'], body: '', isWhole: true },
  {
    method: 'PUT',
    target: '/c',
    minor: 1,
    headers: ['host', 'h', 'transfer-encoding', 'chunked'],
    body: 'abc0123456789',
    isWhole: true,
  },
  { method: 'OPTIONS', target: '*', minor: 0, headers: [], body: '', isWhole: true },
];

describe('RequestReader', () => {
  it('reads the same requests wherever they are cut', () => {
    expect(heard([WIRE])).toEqual(REQUESTS);
    for (let at = 1; at < WIRE.length; at++) {
      expect(heard([WIRE.subarray(0, at), WIRE.subarray(at)]), `cut at ${at}`).toEqual(REQUESTS);
    }
    expect(heard([...WIRE].map((byte) => Buffer.of(byte)))).toEqual(REQUESTS);
    fc.assert(
      fc.property(fc.array(fc.nat(WIRE.length), { maxLength: 12 }), (places) => {
        const ends = [...new Set([...places, WIRE.length])].filter((at) => at > 0).sort((a, b) => a - b);
        expect(heard(ends.map((end, i) => WIRE.subarray(ends[i - 1] ?? 0, end)))).toEqual(REQUESTS);
      }),
    );
  });

  it('stops where its sink is not ready, and goes on from there', () => {
    const ears = new Ears();
    ears.most = 1;
    const reader = new RequestReader(new RequestHead(1000), ears);
    const stopped = reader.read(WIRE);
    expect([ears.requests, WIRE.subarray(stopped, stopped + 5).toString()]).toEqual([REQUESTS.slice(0, 1), 'GET /']);
    expect(reader.read(WIRE.subarray(stopped))).toBe(0);
    ears.most = 4;
    reader.read(WIRE.subarray(stopped));
    expect(ears.requests).toEqual(REQUESTS);
  });

  it('starts no request by empty lines, however they are cut', () => {
    const reader = new RequestReader(new RequestHead(100), new Ears());
    reader.read(Buffer.from('POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1\r\n\r\nx\r\n\r\n'));
    expect(reader.isInHead).toBe(false);
    reader.read(Buffer.from('\r\n\r'));
    expect(reader.isInHead).toBe(false);
    reader.read(Buffer.from('\nG'));
    expect(reader.isInHead).toBe(true);
  });

  it('does not retain a large head for a retained value', () => {
    setFlagsFromString('--expose_gc');
    const collect = runInNewContext('gc') as () => void;
    const heads = 400;
    const filler = `x-filler: ${'y'.repeat(60_000)}`;
    const kept: string[] = [];
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < heads; i++) {
      const id = `an-id-of-some-length-${i}`;
      const wire = Buffer.from(`GET / HTTP/1.1\r\nhost: h\r\nx-request-id: ${id}\r\n${filler}\r\n\r\n`);
      kept.push(heard([wire], 65_536)[0]!.headers[3]!);
    }
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan((heads * filler.length) / 4);
    expect(kept[7]).toBe('an-id-of-some-length-7');
  });

  it('reads heads up to its limit, whether they come at once or not', () => {
    const start = 'GET / HTTP/1.1\r\nhost: h\r\nx: ';
    const head = (bytes: number) => Buffer.from(`${start}${'y'.repeat(bytes - start.length - 4)}\r\n\r\n`);
    const ways = (bytes: Buffer) => [
      [bytes],
      [bytes.subarray(0, 40), bytes.subarray(40)],
      [...bytes].map((one) => Buffer.of(one)),
    ];
    for (const pieces of ways(head(1000))) expect(heard(pieces)).toHaveLength(1);
    for (const pieces of ways(head(1001))) {
      expect(() => heard(pieces)).toThrowError(expect.objectContaining({ status: 431 }));
    }
    expect(
      heard([Buffer.from(`GET / HTTP/1.1\r\nhost: h\r\n${'a:\r\n'.repeat(5000)}\r\n`)], 30_000)[0]!.headers,
    ).toHaveLength(10_002);
  });

  it.each([
    ['no method', ' / HTTP/1.1\r\n', 'invalid method'],
    ['a method that is none', 'G@T / HTTP/1.1\r\n', 'invalid method'],
    ['a method without end', 'G'.repeat(33), 'invalid method'],
    ['TLS', '\x16\x03\x01', 'invalid method'],
    ['two blanks', 'GET  / HTTP/1.1\r\n', 'invalid target'],
    ['nothing', 'GET  HTTP/1.1\r\n', 'invalid target'],
    ['an authority', 'GET h:80 HTTP/1.1\r\nhost: h\r\n\r\n', 'invalid target'],
    ['a control character', 'GET /\x01 HTTP/1.1\r\n', 'invalid target'],
    ['no version', 'GET /\r\n', 'invalid target'],
    ['another protocol', 'GET / SMTP', 'neither HTTP/1.1'],
    ['another version', 'GET / HTTP/1.2\r\n', 'neither HTTP/1.1'],
    ['a version to come', 'GET / HTTP/2', 'neither HTTP/1.1'],
    ['more than a version', 'GET / HTTP/1.1 \r\n', 'invalid request line'],
    ['LF alone', 'GET / HTTP/1.1\nhost: h', 'invalid request line'],
    ['a header without a name', 'GET / HTTP/1.1\r\n: x\r\n', 'without a name'],
    ['a header on two lines', 'GET / HTTP/1.1\r\na: b\r\n c\r\n', 'without a name'],
    ['a blank in a name', 'GET / HTTP/1.1\r\na b: c\r\n', 'invalid header name'],
    ['NUL in a value', 'GET / HTTP/1.1\r\na: b\0\r\n', 'control character'],
    ['CR in a value', 'GET / HTTP/1.1\r\na: b\rc\r\n', 'bare CR'],
    ['CR at the end', 'GET / HTTP/1.1\r\nhost: h\r\n\rx', 'bare CR'],
  ])('refuses %s as soon as it arrives, whole or byte by byte', (_, text, problem) => {
    const bytes = Buffer.from(text, 'latin1');
    for (const pieces of [[bytes], [...bytes].map((byte) => Buffer.of(byte))]) {
      expect(() => heard(pieces)).toThrowError(
        expect.objectContaining({ status: 400, message: expect.stringContaining(problem) }),
      );
    }
  });

  it('reads a long first line in pieces, and sees at its end what is wrong with it', () => {
    const bytes = (version: string) =>
      [...Buffer.from(`GET /${'y'.repeat(500)} HTTP/${version}\r\nhost: h\r\n\r\n`)].map((byte) => Buffer.of(byte));
    expect(heard(bytes('1.1'))[0]!.target).toHaveLength(501);
    expect(() => heard(bytes('1.2'))).toThrowError(expect.objectContaining({ status: 400 }));
  });

  it('accepts absolute URLs and CONNECT, which handlers refuse', () => {
    const targets = ['http://other/v1?a', 'HTTPS://x', '*', '/é'];
    const wire = targets.map((target) => `GET ${target} HTTP/1.1\r\nhost: h\r\n\r\n`).join('');
    expect(heard([Buffer.from(wire, 'latin1')]).map(({ target }) => target)).toEqual(targets);
    expect(heard([Buffer.from('CONNECT h:80 HTTP/1.1\r\nhost: h\r\n\r\n')])[0]!.target).toBe('h:80');
  });
});
