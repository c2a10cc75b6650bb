import type { RandomStream } from '../../src/kernel/random-stream.js';

/** A request that no server should accept, as bytes. */
export interface Malformed {
  bytes: Buffer;
  /** It is still HTTP: the connection stays usable afterwards. */
  isHttp: boolean;
}

const CHAT = '/v1/chat/completions';
const PATHS = [CHAT, '/v1/completions', '/v1/embeddings', '/v1/rerank', '/v1/score'];
const GOOD = { model: 'tiny', messages: [{ role: 'user', content: 'hello' }] };

/** Makes malformed requests, all kinds in turn, the same ones for the same stream. */
export function malformedRequests(random: RandomStream, bodyLimit: number): (i: number) => Malformed {
  const pick = <Value>(values: readonly Value[]): Value => values[random.below(values.length)]!;
  const letters = (most: number) => 'abcdefghijklmnopqrstuvwxyz'.repeat(8).slice(0, 1 + random.below(most));
  const noise = (most: number) => Buffer.from(Array.from({ length: 1 + random.below(most) }, () => random.below(256)));

  const post = (body: Buffer | string, headers = '', path = pick(PATHS)): Malformed => {
    const bytes = Buffer.from(body);
    const head = `POST ${path} HTTP/1.1\r\nhost: h\r\n${headers}content-length: ${bytes.length}\r\n\r\n`;
    return { bytes: Buffer.concat([Buffer.from(head, 'latin1'), bytes]), isHttp: true };
  };
  const chat = (change: object): Malformed => post(JSON.stringify({ ...GOOD, ...change }), '', CHAT);
  const line = (method: string, path: string, headers = ''): Malformed => ({
    bytes: Buffer.from(`${method} ${path} HTTP/1.1\r\nhost: h\r\n${headers}\r\n`, 'latin1'),
    isHttp: true,
  });
  const broken = (text: string | Buffer): Malformed => ({
    bytes: typeof text === 'string' ? Buffer.from(text, 'latin1') : text,
    isHttp: false,
  });
  const text = JSON.stringify(GOOD);

  const kinds: readonly (() => Malformed)[] = [
    // JSON.
    () => post(text.slice(0, random.below(text.length))),
    () => post(noise(200)),
    () => post(pick(['', 'null', 'true', '3', '"x"', '[]', '[{}]', '{}', '\ufeff{}', '{"a":1}}', "{'model':'tiny'}"])),
    () => post(JSON.stringify({ ...GOOD, model: pick<unknown>([null, 5, true, [], {}, '', ['tiny']]) })),
    () =>
      post(JSON.stringify({ ...GOOD, model: pick(['other', 'tiny ', 'Toy', '__proto__', letters(200), '\u0000']) })),
    () => post('['.repeat(1 + random.below(5000))),
    () => post(`{"model":"tiny","messages":${'['.repeat(3000)}${']'.repeat(3000)}}`, '', CHAT),
    () =>
      post(Buffer.concat([Buffer.from('{"model":"tiny","prompt":"'), Buffer.of(0xc3, 0x28, 0x0a), Buffer.from('"}')])),
    // Fields, which are the replica's to judge.
    () => chat({ messages: pick<unknown>([null, 'x', 5, {}, [], [null], [5], ['x'], [{}], [{ role: 5 }]]) }),
    () => chat({ messages: [{ role: 'user', content: pick<unknown>([5, true, {}, [5], [null]]) }] }),
    () => chat({ max_tokens: pick<unknown>([-1, 1.5, '5', [], 1e300]), n: 1 }),
    () => chat({ [pick(['stream', 'ignore_eos'])]: pick<unknown>(['yes', 1, 0, [], {}]) }),
    () => chat({ n: pick<unknown>([0, -1, 1000, 'two', 1.5]) }),
    () => chat({ stream_options: pick<unknown>([5, 'x', [], { include_usage: true }]) }),
    () => chat({ tools: pick<unknown>([5, 'x', {}, true]) }),
    () => chat({ stop: pick<unknown>([5, [5], {}, ['']]) }),
    () =>
      post(
        JSON.stringify({ model: 'tiny', prompt: pick<unknown>([null, 5, {}, [], [-1], [[0.5]]]) }),
        '',
        '/v1/completions',
      ),
    () => post(JSON.stringify({ model: 'tiny' }), '', pick(PATHS)),
    () => chat({ messages: [{ role: 'user', content: 'x'.repeat(17_000) }] }),
    // Sizes and encodings.
    () => post(Buffer.alloc(bodyLimit + 1 + random.below(bodyLimit / 2), 'x')),
    () =>
      post(text, `content-encoding: ${pick(['gzip', 'br', 'deflate', 'GZIP', letters(100), 'identity, gzip'])}\r\n`),
    // Paths and methods.
    () => line('GET', pick(PATHS)),
    () =>
      line(pick(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND']), pick([...PATHS, '/v1/models', '/health'])),
    () =>
      post(text, '', pick(['/', '//', '/v1', '/v2/chat/completions', '/v1/chat', '/v1/chat/completions/', '/%2e%2e'])),
    () => post(text, '', `/${letters(200)}/../${letters(20)}?${letters(20)}`),
    () =>
      post(
        text,
        '',
        `/workspace/${letters(9)}/endpoint/${pick(['%', '%zz', '%c0%af', 'none', '..', '\xff'])}/v1/completions`,
      ),
    () => line('GET', `/${encodeURIComponent(noise(40).toString('latin1'))}`),
    () =>
      line('GET', pick(['*', 'http://other/v1/models', '/v1/models/other', '/metrics', '/api/config', '/api/../v1'])),
    // Not HTTP.
    () => broken(noise(300)),
    () =>
      broken(
        `${pick(['GEt', 'POST\x00', 'P O S T', letters(30).toUpperCase(), '\x16\x03\x01\x02'])} / HTTP/1.1\r\n\r\n`,
      ),
    () => broken(`GET / HTTP/${pick(['0.5', '3.0', '1.', 'x', '1.1.1', ''])}\r\nhost: h\r\n\r\n`),
    () => broken('POST /v1/completions HTTP/1.1\r\n\r\n'),
    () => broken('CONNECT h:80 HTTP/1.1\r\nhost: h\r\n\r\n'),
    () =>
      broken(
        `POST ${CHAT} HTTP/1.1\r\nhost: h\r\ncontent-length: ${pick(['-1', 'x', '1e3', '0x10', '5, 6', '9'.repeat(30)])}\r\n\r\n{}`,
      ),
    () =>
      broken(`POST ${CHAT} HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
    () =>
      broken(
        `POST ${CHAT} HTTP/1.1\r\nhost: h\r\ntransfer-encoding: ${pick(['chunked', 'gzip, chunked'])}\r\n\r\n${pick(['x', '-1', 'ffffffffffffffffff', '5\r\nab', '3\r\nabcd'])}\r\n\r\n`,
      ),
    () =>
      broken(
        `GET /health HTTP/1.1\r\nhost: h\r\n${pick(['no colon', ': nothing', 'a b: c', 'x\x00: y', 'x: a\x00b', 'x: a\x01b', '\x80: x'])}\r\n\r\n`,
      ),
    () => broken(`GET /health HTTP/1.1\r\nhost: h\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`),
    () => broken(`GET /${'y'.repeat(20_000)} HTTP/1.1\r\nhost: h\r\n\r\n`),
    () =>
      broken(
        `POST ${CHAT} HTTP/1.1\r\nhost: h\r\nexpect: ${letters(20)}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`,
      ),
    // Cut short: the sender says no more.
    () => broken(`POST ${CHAT} HTTP/1.1\r\nhost: h\r\ncontent-length: 500\r\n\r\n${text}`),
    () => broken(post(text, '', CHAT).bytes.subarray(0, 1 + random.below(80))),
  ];
  return (i) => kinds[i % kinds.length]!();
}
