import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MOST_READ } from '../wire/chunked-body.js';
import { ResponseParser } from './response-parser.js';
import { MALFORMED, MALFORMED_CHUNKS, VALID } from './responses.fixture.js';

interface Heard {
  status: number;
  headers: string[];
  body: string;
  /** The order of the callbacks, with data joined. */
  calls: string;
  reusable: boolean;
  error: (Error & { code?: string }) | null;
}

const LIMIT = 4096;
const wire = Buffer.alloc(MOST_READ);

/** Reads pieces as a connection does: from one buffer that holds something else afterwards. */
function parse(pieces: readonly string[], { ends = false, isHead = false, limit = LIMIT } = {}): Heard {
  const heard: Heard = { status: 0, headers: [], body: '', calls: '', reusable: false, error: null };
  const data: Buffer[] = [];
  const called = (call: string) => {
    if (call !== 'data' || !heard.calls.endsWith('data ')) heard.calls += `${call} `;
  };
  const parser = new ResponseParser(limit, {
    onHeaders: (status, headers) => {
      Object.assign(heard, { status, headers });
      called('headers');
    },
    onData: (piece, isLast) => {
      if (piece.length === 0) throw new Error('no data');
      data.push(piece);
      called('data');
      if (isLast) called('last');
    },
    onEnd: () => called('end'),
  });
  parser.begin(isHead);
  try {
    for (const piece of pieces) {
      // Bytes after the response end the connection, which reads no more.
      if (parser.isDone) break;
      const length = wire.write(piece, 'latin1');
      parser.read(wire, length);
      wire.fill('#', 0, length);
    }
    if (ends) parser.end();
  } catch (error) {
    heard.error = error as Error;
  }
  heard.body = Buffer.concat(data).toString('latin1');
  heard.reusable = parser.isReusable;
  return heard;
}

/** How the data was cut does not matter, nor whether the last of it came with the end. */
const comparable = ({ calls, ...heard }: Heard) => ({ ...heard, calls: calls.replace('last ', '') });

const cutAt = (text: string, ...places: number[]) =>
  [0, ...places].map((place, i) => text.slice(place, places[i] ?? text.length)).filter((piece) => piece !== '');

describe.each(VALID)('ResponseParser reads $what', ({ bytes, status, headers, body, reusable, untilClose }) => {
  const ends = untilClose === true;
  const whole = parse([bytes], { ends });

  it('in one piece', () => {
    expect(whole).toMatchObject({ status, body, reusable, error: null });
    if (headers !== undefined) expect(whole.headers).toEqual(headers);
    const last = ends ? '' : 'last ';
    expect(whole.calls).toBe(body === '' ? 'headers end ' : `headers data ${last}end `);
  });

  it('in two pieces, cut anywhere', () => {
    for (let i = 1; i < bytes.length; i++) {
      expect(comparable(parse(cutAt(bytes, i), { ends })), `cut at ${i}`).toEqual(comparable(whole));
    }
  });

  it('in three pieces, cut anywhere', () => {
    const expected = JSON.stringify(comparable(whole));
    const step = Math.ceil(bytes.length / 30);
    for (let i = 1; i < bytes.length; i += step) {
      for (let j = i + 1; j < bytes.length; j++) {
        const got = JSON.stringify(comparable(parse(cutAt(bytes, i, j), { ends })));
        if (got !== expected) expect.fail(`cut at ${i} and ${j}: ${got}`);
      }
    }
  });

  it('byte by byte', () => {
    expect(comparable(parse([...bytes], { ends }))).toEqual(comparable(whole));
  });

  it('cut short: reported as broken off, unless the response ends with its connection', () => {
    const head = bytes.lastIndexOf('\r\n\r\n', ends ? bytes.indexOf('\r\n\r\n') : undefined) + 4;
    for (let i = 0; i < (ends ? head : bytes.length); i++) {
      const { error, calls } = parse(cutAt(bytes.slice(0, i), i >> 1), { ends: true });
      expect([error?.code, calls.includes('end')], `of ${i} bytes`).toEqual(['UPSTREAM_CUT', false]);
    }
  });

  it('and bytes after it invalidate the connection, not the response', () => {
    if (ends) return;
    for (const more of ['H', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', '\r\n', '\0']) {
      expect(parse([bytes + more])).toEqual({ ...whole, reusable: false });
    }
  });
});

describe('ResponseParser', () => {
  it('reads bodies of any length in pieces of any size', () => {
    const text = fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 300 }).map((a) => String.fromCharCode(...a));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 8 }), fc.array(fc.nat(4000)), fc.boolean(), (parts, cuts, chunked) => {
        const body = parts.join('');
        const chunks = parts.filter((part) => part !== '').map((part) => `${part.length.toString(16)}\r\n${part}\r\n`);
        const bytes = chunked
          ? `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`
          : `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
        const places = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b);
        expect(parse(cutAt(bytes, ...places))).toMatchObject({ status: 200, body, reusable: true, error: null });
      }),
      { numRuns: 300 },
    );
  });

  it('reports whether any byte has been received', () => {
    const parser = new ResponseParser(LIMIT, { onHeaders() {}, onData() {}, onEnd() {} });
    for (let turn = 0; turn < 2; turn++) {
      parser.begin(false);
      expect(parser.hasBegun).toBe(false);
      parser.read(Buffer.from('H'), 1);
      expect(parser.hasBegun).toBe(true);
    }
  });

  it('reads one response after the other', () => {
    const calls: string[] = [];
    const parser = new ResponseParser(LIMIT, {
      onHeaders: (status, headers) => calls.push(`${status} ${headers.length}`),
      onData: (data) => calls.push(data.toString('latin1')),
      onEnd: () => calls.push('end'),
    });
    const extended = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0;${'y'.repeat(LIMIT - 1)}\r\n\r\n`;
    const responses = VALID.filter(({ reusable }) => reusable).map(({ bytes }) => bytes);
    for (const bytes of [...responses, extended, extended]) {
      parser.begin(false);
      parser.read(Buffer.from(bytes, 'latin1'), bytes.length);
      expect([parser.isDone, parser.isReusable]).toEqual([true, true]);
    }
    expect(calls.filter((call) => call === 'end').length).toBe(responses.length + 2);
  });

  it('knows that the response to HEAD has no body', () => {
    for (const framing of ['content-length: 5', 'transfer-encoding: chunked', 'x: y']) {
      const heard = parse([`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n`], { isHead: true });
      expect(heard).toMatchObject({ status: 200, body: '', calls: 'headers end ', reusable: true, error: null });
    }
  });

  it('reports how long the replica keeps the connection', () => {
    const parser = new ResponseParser(LIMIT, { onHeaders() {}, onData() {}, onEnd() {} });
    const keeps = (line: string) => {
      const bytes = Buffer.from(`HTTP/1.1 204 OK\r\n${line}\r\n\r\n`);
      parser.begin(false);
      parser.read(bytes, bytes.length);
      return parser.keepAliveMs;
    };
    const forever = Number.POSITIVE_INFINITY;
    expect(keeps('Keep-Alive: timeout=5, max=100')).toBe(5000);
    expect(keeps('keep-alive: timeout=5, max=100')).toBe(5000);
    expect(keeps('Keep-Alive: max=100, Timeout=75')).toBe(75_000);
    expect(keeps('x-alive: timeout=5')).toBe(forever);
    expect(keeps('keep-alive: xtimeout=5')).toBe(forever);
    expect(keeps('keep-alive: timeout=5s')).toBe(forever);
    expect(keeps('user-agent: timeout=5')).toBe(forever);
  });

  it('gives the data of many chunks in one piece, as many as fit in what is read at once', () => {
    const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
    const many = Math.floor(MOST_READ / 6);
    const pieces: string[] = [];
    const parser = new ResponseParser(LIMIT, {
      onHeaders() {},
      onData: (data, isLast) => pieces.push(`${data.length} ${isLast}`),
      onEnd: () => pieces.push('end'),
    });
    parser.begin(false);
    for (const bytes of [`${head}2\r\nx`, `x\r\n${'1\r\nx\r\n'.repeat(many - 1)}1\r\n`, 'x\r\n', '0\r\n\r\n']) {
      parser.read(Buffer.from(bytes), bytes.length);
    }
    expect(pieces).toEqual(['1 false', `${many} false`, '1 false', 'end']);
  });
});

describe('ResponseParser refuses', () => {
  it.each([...MALFORMED, ...MALFORMED_CHUNKS])('%s', (_, bytes, problem) => {
    const refused = (pieces: readonly string[]) => {
      const { error, calls, reusable } = parse(pieces, { ends: true });
      expect(error?.message).toContain(problem);
      expect([error?.code, calls.includes('end'), reusable]).toEqual(['UPSTREAM_MALFORMED', false, false]);
    };
    refused([bytes]);
    refused([...bytes]);
    const step = Math.ceil(bytes.length / 100);
    for (let i = 1; i < bytes.length; i += step) refused(cutAt(bytes, i));
  });

  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  const long = 'y'.repeat(LIMIT);
  it.each([
    ['headers', `HTTP/1.1 200 OK\r\nx: ${long}`],
    ['headers', `HTTP/1.1 200 OK\r\n${long}`],
    ['headers', `HTTP/1.1 200 ${long}`],
    ['headers', `HTTP/1.1 200 OK\r\nx: ${' '.repeat(LIMIT)}`],
    ['trailers', `${chunked}0\r\nx: ${long}\r\n\r\n`],
    ['chunk extensions', `${chunked}1;${long}\r\nx\r\n`],
    ['chunk extensions', `${chunked}1${' '.repeat(LIMIT + 1)};\r\nx\r\n`],
    ['chunk extensions', chunked + `1;${'y'.repeat(99)}\r\nx\r\n`.repeat(50)],
  ])('%s beyond the limit', (what, bytes) => {
    for (const pieces of [[bytes], [...bytes], cutAt(bytes, 60), cutAt(bytes, bytes.length - 1)]) {
      const { error } = parse(pieces, { ends: true });
      expect([error?.code, error?.message]).toEqual([
        'UPSTREAM_HEAD_TOO_LARGE',
        `the ${what} of the response exceed the limit of ${LIMIT} bytes`,
      ]);
    }
  });

  it('no head that just fits', () => {
    const bytes = 'HTTP/1.1 200 OK\r\na: bcd\r\ncontent-length: 0\r\n\r\n';
    for (const pieces of [[bytes], [...bytes]]) {
      expect(parse(pieces, { limit: bytes.length }).calls).toBe('headers end ');
      expect(parse(pieces, { limit: bytes.length - 1 }).error?.code).toBe('UPSTREAM_HEAD_TOO_LARGE');
    }
  });
});
