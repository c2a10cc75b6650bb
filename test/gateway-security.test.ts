import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpsServer, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, describe, expect, test } from 'vitest';
import { API_ROUTES } from '../src/api/routes.js';
import { GATEWAY_DEFAULTS } from '../src/gateway/config/gateway-config.js';
import { configFor, until } from '../src/gateway/fake-engine.fixture.js';
import { Gateway } from '../src/gateway/gateway.js';
import { type CertificateFiles, makeCertificate } from '../src/gateway/server/certificate.fixture.js';
import {
  afterwards,
  expectIdle,
  gatewayOver,
  PROMPT,
  plain,
  postText,
  RawClient,
  RawReplica,
} from './support/gateway-fixture.js';
import { responsesIn } from './support/http-responses.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-security-'));
afterAll(() => rmSync(folder, { recursive: true }));

const LENGTH = PROMPT.length;
const HEX = LENGTH.toString(16);
const WITH_LENGTH = `content-length: ${LENGTH}\r\n`;
const CHUNKED = 'transfer-encoding: chunked\r\n';
const CHUNKS = `${HEX}\r\n${PROMPT}\r\n0\r\n\r\n`;

/** A request as bytes, with all its framing in the test's hands. */
const raw = (headers: string, body: string, start = 'POST /v1/completions HTTP/1.1') =>
  `${start}\r\nhost: h\r\n${headers}\r\n${body}`;

/** The request that an attacker would smuggle. */
const EVIL = raw(`x-evil: 1\r\n${WITH_LENGTH}`, PROMPT);

/** That a replica was sent exactly these bodies, each in a request whose framing is the gateway's own. */
function expectSent(replica: RawReplica, bodies: readonly string[]): void {
  const wellFramed = replica.seen.map(({ text }) => {
    const [head = '', body = ''] = text.split('\r\n\r\n');
    const [start, ...headers] = head.split('\r\n');
    expect(start).toBe('POST /v1/completions HTTP/1.1');
    const named = (name: string) => headers.filter((header) => header.toLowerCase().startsWith(`${name}:`));
    expect(named('content-length')).toEqual([`content-length: ${body.length}`]);
    expect(named('host')).toEqual([`host: ${new URL(replica.url).host}`]);
    for (const name of ['transfer-encoding', 'upgrade', 'expect', 'te', 'trailer', 'keep-alive', 'proxy-connection']) {
      expect(named(name)).toEqual([]);
    }
    return body;
  });
  expect(wellFramed).toEqual(bodies);
}

/** Asserts that the next request is served normally. */
async function expectSound(gateway: Gateway, replica: RawReplica): Promise<void> {
  replica.seen.length = 0;
  const client = new RawClient(gateway.url).send(postText(PROMPT, 'x-mark: sound\r\nconnection: close\r\n'));
  expect(await client.closed()).toMatch(/^HTTP\/1\.1 200 /);
  expectSent(replica, [PROMPT]);
  expect(replica.seen[0]!.text).toContain('x-mark: sound\r\n');
  expectIdle(gateway);
  expect(gateway.metrics.faults).toBe(0);
}

async function pair(): Promise<[RawReplica, Gateway]> {
  const replica = await RawReplica.start();
  return [replica, await gatewayOver([replica])];
}

describe('an ambiguous request is refused', () => {
  const lf = `POST /v1/completions HTTP/1.1\nhost: h\n${WITH_LENGTH.replace('\r', '')}\n${PROMPT}`;
  test.each<[string, string, number?]>([
    ['a length and chunks', raw(`content-length: 5\r\n${CHUNKED}`, CHUNKS)],
    ['chunks and a length', raw(`${CHUNKED}${WITH_LENGTH}`, PROMPT)],
    ['two lengths', raw(`${WITH_LENGTH}content-length: 3\r\n`, PROMPT)],
    ['the same length twice', raw(WITH_LENGTH + WITH_LENGTH, PROMPT)],
    ['a list of lengths', raw(`content-length: ${LENGTH}, ${LENGTH}\r\n`, PROMPT)],
    ['a length with a sign', raw(`content-length: +${LENGTH}\r\n`, PROMPT)],
    ['a negative length', raw('content-length: -1\r\n', PROMPT)],
    ['a length with a blank inside', raw('content-length: 3 0\r\n', PROMPT)],
    ['a length in hexadecimal', raw('content-length: 0x1e\r\n', PROMPT)],
    ['a length beyond all numbers', raw(`content-length: ${'9'.repeat(30)}\r\n`, PROMPT)],
    ['an empty length', raw('content-length:\r\n', PROMPT)],
    ['a length with an underscore', raw(`content_length: 3\r\n${WITH_LENGTH}`, PROMPT)],
    ['chunked, identity', raw('transfer-encoding: chunked, identity\r\n', CHUNKS)],
    ['identity, chunked', raw('transfer-encoding: identity, chunked\r\n', CHUNKS)],
    ['identity', raw('transfer-encoding: identity\r\n', CHUNKS)],
    ['identity with a length', raw(`transfer-encoding: identity\r\n${WITH_LENGTH}`, PROMPT)],
    ['gzip, chunked', raw('transfer-encoding: gzip, chunked\r\n', CHUNKS)],
    ['chunked, chunked', raw('transfer-encoding: chunked, chunked\r\n', CHUNKS)],
    ['chunked twice', raw(CHUNKED + CHUNKED, CHUNKS)],
    ['chunked, then identity', raw(`${CHUNKED}transfer-encoding: identity\r\n`, CHUNKS)],
    ['identity, then chunked', raw(`transfer-encoding: identity\r\n${CHUNKED}`, CHUNKS)],
    ['xchunked', raw('transfer-encoding: xchunked\r\n', CHUNKS)],
    ['chunkedx', raw('transfer-encoding: chunkedx\r\n', CHUNKS)],
    ['chunked in quotes', raw('transfer-encoding: "chunked"\r\n', CHUNKS)],
    ['chunked with a parameter', raw('transfer-encoding: chunked;q=1\r\n', CHUNKS)],
    ['chunked behind a comma', raw('transfer-encoding: ,chunked\r\n', CHUNKS)],
    ['chunked before a comma', raw('transfer-encoding: chunked,\r\n', CHUNKS)],
    ['chunked behind a vertical tab', raw('transfer-encoding: \x0bchunked\r\n', CHUNKS)],
    ['chunked on the next line', raw('transfer-encoding:\r\n chunked\r\n', CHUNKS)],
    ['an empty encoding', raw(`transfer-encoding:\r\n${WITH_LENGTH}`, PROMPT)],
    ['an encoding with an underscore', raw(`transfer_encoding: chunked\r\n${WITH_LENGTH}`, PROMPT)],
    ['an encoding before a blank', raw(`${WITH_LENGTH}transfer-encoding : chunked\r\n`, PROMPT)],
    ['chunks in HTTP/1.0', raw(`connection: keep-alive\r\n${CHUNKED}`, CHUNKS, 'POST /v1/completions HTTP/1.0')],
    ['a header on two lines', raw(`x-a: b\r\n c\r\n${WITH_LENGTH}`, PROMPT)],
    ['a length on the second line of a header', raw(`x-a: b\r\n\tcontent-length: 3\r\n${WITH_LENGTH}`, PROMPT)],
    [
      'a blank before the first header',
      `POST /v1/completions HTTP/1.1\r\n x: y\r\nhost: h\r\n${WITH_LENGTH}\r\n${PROMPT}`,
    ],
    ['LF alone after a header', raw(`x-a: b\n${WITH_LENGTH}`, PROMPT)],
    ['LF alone everywhere', lf],
    ['LF alone at the end of the headers', `POST /v1/completions HTTP/1.1\r\nhost: h\r\n${WITH_LENGTH}\n${PROMPT}`],
    ['CR alone in a header', raw(`x-a: b\rcontent-length: 3\r\n${WITH_LENGTH}`, PROMPT)],
    ['CR twice', raw(`x-a: b\r\r\n${WITH_LENGTH}`, PROMPT)],
    ['a blank before the colon', raw(`x-a : b\r\n${WITH_LENGTH}`, PROMPT)],
    ['a header without a name', raw(`: b\r\n${WITH_LENGTH}`, PROMPT)],
    ['NUL in a value', raw(`x-a: b\0c\r\n${WITH_LENGTH}`, PROMPT)],
    ['NUL in a name', raw(`x\0a: b\r\n${WITH_LENGTH}`, PROMPT)],
    ['a control character in a value', raw(`x-a: b\x01c\r\n${WITH_LENGTH}`, PROMPT)],
    ['two hosts', raw(`host: other\r\n${WITH_LENGTH}`, PROMPT)],
    ['no host', `POST /v1/completions HTTP/1.1\r\n${WITH_LENGTH}\r\n${PROMPT}`],
    ['another version', raw(WITH_LENGTH, PROMPT, 'POST /v1/completions HTTP/1.2')],
    ['a version to come', raw(WITH_LENGTH, PROMPT, 'POST /v1/completions HTTP/2.0')],
    ['no version', `POST /v1/completions\r\nhost: h\r\n${WITH_LENGTH}\r\n${PROMPT}`],
    ['a tab in the request line', raw(WITH_LENGTH, PROMPT, 'POST\t/v1/completions HTTP/1.1')],
    ['a target with a blank', raw(WITH_LENGTH, PROMPT, 'POST /v1/completions x HTTP/1.1')],
    ['a target with a control character', raw(WITH_LENGTH, PROMPT, 'POST /v1/completions?\x01 HTTP/1.1')],
    ['an authority as target', raw(WITH_LENGTH, PROMPT, 'POST other:80 HTTP/1.1')],
    ['CONNECT', raw('', '', 'CONNECT other:80 HTTP/1.1'), 405],
    ['the beginning of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a chunk with LF alone', raw(CHUNKED, `${HEX}\n${PROMPT}\r\n0\r\n\r\n`)],
    ['LF alone after a chunk', raw(CHUNKED, `${HEX}\r\n${PROMPT}\n0\r\n\r\n`)],
    ['nothing after a chunk', raw(CHUNKED, `${HEX}\r\n${PROMPT}0\r\n\r\n`)],
    ['a chunk in 0x', raw(CHUNKED, `0x${HEX}\r\n${PROMPT}\r\n0\r\n\r\n`)],
    ['a chunk behind a blank', raw(CHUNKED, ` ${HEX}\r\n${PROMPT}\r\n0\r\n\r\n`)],
    ['a chunk before a blank', raw(CHUNKED, `${HEX} \r\n${PROMPT}\r\n0\r\n\r\n`)],
    ['a chunk of less than nothing', raw(CHUNKED, `-${HEX}\r\n${PROMPT}\r\n0\r\n\r\n`)],
    ['a chunk that is too large for a number', raw(CHUNKED, `1000000000000001e\r\n${PROMPT}\r\n0\r\n\r\n`)],
    ['LF in the extension of a chunk', raw(CHUNKED, `${HEX};a\nb\r\n${PROMPT}\r\n0\r\n\r\n`)],
    ['CR in the extension of a chunk', raw(CHUNKED, `${HEX};a\rb\r\n${PROMPT}\r\n0\r\n\r\n`)],
    ['an extension without end', raw(CHUNKED, `${HEX};${'a'.repeat(20_000)}\r\n${PROMPT}\r\n0\r\n\r\n`)],
    ['a length as trailer', raw(CHUNKED, `${HEX}\r\n${PROMPT}\r\n0\r\ncontent-length: 3\r\n\r\n`)],
    ['an encoding as trailer', raw(CHUNKED, `${HEX}\r\n${PROMPT}\r\n0\r\n${CHUNKED}\r\n`)],
    ['trailers without end', raw(CHUNKED, `${HEX}\r\n${PROMPT}\r\n0\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`), 431],
  ])('%s', async (_, bytes, status = 400) => {
    const [replica, gateway] = await pair();
    const client = new RawClient(gateway.url).send(bytes + EVIL);
    const { responses, rest } = responsesIn(await client.closed());
    expect([responses.map((response) => response.status), rest]).toEqual([[status], '']);
    expect(JSON.parse(responses[0]!.body)).toMatchObject({ error: { type: 'invalid_request_error' } });
    expect(responses[0]!.head).toMatch(/\r\nconnection: close\r\n/i);
    expectSent(replica, []);
    await expectSound(gateway, replica);
  });
});

describe('an unusual request is one request, with framing by the gateway', () => {
  test.each<[string, string]>([
    ['a length with noughts', raw(`content-length: 00${LENGTH}\r\n`, PROMPT)],
    ['a length before a tab', raw(`content-length: ${LENGTH}\t\r\n`, PROMPT)],
    ['chunks', raw(CHUNKED, CHUNKS)],
    ['chunked before a tab', raw('transfer-encoding: chunked\t\r\n', CHUNKS)],
    ['ChUnKeD', raw('Transfer-Encoding: ChUnKeD\r\n', CHUNKS)],
    ['chunked behind a tab', raw('transfer-encoding:\tchunked\r\n', CHUNKS)],
    ['chunks with extensions', raw(CHUNKED, `${HEX};a=b;c="d;e"\r\n${PROMPT}\r\n0;f\r\n\r\n`)],
    ['chunks with noughts', raw(CHUNKED, `${'0'.repeat(100)}${HEX}\r\n${PROMPT}\r\n000\r\n\r\n`)],
    ['a chunk per byte', raw(CHUNKED, `${[...PROMPT].map((letter) => `1\r\n${letter}\r\n`).join('')}0\r\n\r\n`)],
    ['trailers', raw(`${CHUNKED}trailer: x-evil\r\n`, `${HEX}\r\n${PROMPT}\r\n0\r\nx-evil: 1\r\nhost: evil\r\n\r\n`)],
    ['HTTP/1.0', raw(WITH_LENGTH, PROMPT, 'POST /v1/completions HTTP/1.0')],
    ['an empty line before it', `\r\n\r\n${raw(WITH_LENGTH, PROMPT)}`],
    ['its own framing named by connection', raw(`connection: content-length, host\r\n${WITH_LENGTH}`, PROMPT)],
    ['its encoding named by connection', raw(`connection: transfer-encoding\r\n${CHUNKED}`, CHUNKS)],
    ['a header named by connection', raw(`connection: close, X-Evil\r\nx-evil: 1\r\n${WITH_LENGTH}`, PROMPT)],
    ['headers of a connection', raw(`keep-alive: 5\r\nproxy-connection: x\r\nte: trailers\r\n${WITH_LENGTH}`, PROMPT)],
    [
      'an upgrade',
      raw(`connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: x\r\n${WITH_LENGTH}`, PROMPT),
    ],
    ['expect', raw(`expect: 100-continue\r\n${WITH_LENGTH}`, PROMPT)],
    ['expect of HTTP/1.0', raw(`expect: 100-continue\r\n${WITH_LENGTH}`, PROMPT, 'POST /v1/completions HTTP/1.0')],
    ['letters that are not ASCII', raw(`x-a: b\xffc\r\n${WITH_LENGTH}`, PROMPT)],
  ])('%s', async (_, bytes) => {
    const [replica, gateway] = await pair();
    const client = new RawClient(gateway.url).send(bytes);
    const text = await client.until(/HTTP\/1\.1 200 OK\r\n[\s\S]*\{\}/);
    const { responses, rest } = responsesIn(text);
    expect([responses.map(({ status }) => status).filter((status) => status >= 200), rest]).toEqual([[200], '']);
    expectSent(replica, [PROMPT]);
    expect(replica.seen[0]!.text).not.toMatch(/evil|http2-settings/i);
    client.socket.destroy();
    await expectSound(gateway, replica);
  });
});

describe('the body of a refused request is not read as a request', () => {
  test.each<[string, string, number]>([
    ['too large', raw(`content-length: ${EVIL.length}\r\n`, EVIL), 413],
    ['too large, in chunks', raw(CHUNKED, `${EVIL.length.toString(16)}\r\n${EVIL}\r\n0\r\n\r\n`), 413],
    ['packed', raw(`content-encoding: gzip\r\ncontent-length: ${EVIL.length}\r\n`, EVIL), 400],
    ['for no path', raw(`content-length: ${EVIL.length}\r\n`, EVIL, 'POST /nothing HTTP/1.1'), 404],
    [
      'for another host',
      raw(`content-length: ${EVIL.length}\r\n`, EVIL, 'POST http://other/v1/completions HTTP/1.1'),
      400,
    ],
    ['for everything', raw(`content-length: ${EVIL.length}\r\n`, EVIL, 'POST * HTTP/1.1'), 404],
    ['with a fragment', raw(`content-length: ${EVIL.length}\r\n`, EVIL, 'POST /v1/completions?a#b HTTP/1.1'), 404],
    ['of GET', raw(`content-length: ${EVIL.length}\r\n`, EVIL, 'GET /v1/completions HTTP/1.1'), 405],
    ['of GET where GET is right', raw(`content-length: ${EVIL.length}\r\n`, EVIL, 'GET /health HTTP/1.1'), 200],
    [
      'of GET in chunks',
      raw(CHUNKED, `${EVIL.length.toString(16)}\r\n${EVIL}\r\n0\r\n\r\n`, 'GET /health HTTP/1.1'),
      200,
    ],
    ['of an expectation', raw(`expect: a-miracle\r\ncontent-length: ${EVIL.length}\r\n`, EVIL), 417],
    ['that is no JSON', raw('content-length: 3\r\n', '{}}'), 400],
  ])('%s', async (_, bytes, status) => {
    const replica = await RawReplica.start();
    const limits = {
      ...GATEWAY_DEFAULTS.limits,
      bodyBytes: EVIL.length - 1,
      headerBytes: 16_384,
      decisions: 10,
      connections: 100,
    };
    const gateway = await gatewayOver([replica], { limits });
    const client = new RawClient(gateway.url).send(bytes + postText(PROMPT, 'x-mark: next\r\n'));
    const text = await client.until(/HTTP\/1\.1 200 OK[\s\S]*\{\}/);
    const { responses, rest } = responsesIn(text);
    expect([responses.map((response) => response.status), rest]).toEqual([[status, 200], '']);
    expectSent(replica, [PROMPT]);
    expect(replica.seen[0]!.text).toContain('x-mark: next\r\n');
    client.socket.destroy();
    await expectSound(gateway, replica);
  });

  test('what follows a request for another protocol is not read at all', async () => {
    const [replica, gateway] = await pair();
    for (const start of ['GET /health HTTP/1.1', 'POST /v1/completions HTTP/1.1']) {
      const client = new RawClient(gateway.url).send(raw('connection: upgrade\r\nupgrade: websocket\r\n', EVIL, start));
      expect(responsesIn(await client.closed()).responses).toHaveLength(1);
    }
    expectSent(replica, []);
    await expectSound(gateway, replica);
  });

  test('what follows the end of a body is the next request, or none', async () => {
    const [replica, gateway] = await pair();
    const short = new RawClient(gateway.url).send(raw('content-length: 3\r\n', PROMPT));
    expect(responsesIn(await short.closed()).responses.map(({ status }) => status)).toEqual([400, 400]);
    expectSent(replica, []);
    const long = new RawClient(gateway.url).send(raw(WITH_LENGTH, `${PROMPT}{GARBAGE`));
    expect(responsesIn(await long.closed()).responses.map(({ status }) => status)).toEqual([200, 400]);
    await until(() => gateway.inFlight === 0);
    for (const { text } of replica.seen) expect(text).not.toContain('GARBAGE');
    await expectSound(gateway, replica);
  });
});

describe('whatever a replica sends, a client gets one response per request', () => {
  const OK = 'HTTP/1.1 200 OK\r\n';
  const SECOND = plain('["evil"]', '200 OK', 'x-evil: 1\r\n');
  const chunked = (chunks: string, headers = CHUNKED) => `${OK}${headers}\r\n${chunks}`;
  const lengths = (headers: string, body = '{}') => `${OK}${headers}\r\n${body}`;
  const BROKEN = 502;

  test.each<[string, string, number]>([
    ['a length and chunks', chunked('2\r\n{}\r\n0\r\n\r\n', `content-length: 2\r\n${CHUNKED}`), BROKEN],
    ['chunks and a length', chunked('2\r\n{}\r\n0\r\n\r\n', `${CHUNKED}content-length: 2\r\n`), BROKEN],
    ['two lengths', lengths('content-length: 2\r\ncontent-length: 20\r\n', `{}${SECOND}`), BROKEN],
    ['a list of lengths', lengths('content-length: 2, 2\r\n'), BROKEN],
    ['a negative length', lengths('content-length: -2\r\n'), BROKEN],
    ['a length that is none', lengths('content-length: two\r\n'), BROKEN],
    ['identity and a length', lengths('transfer-encoding: identity\r\ncontent-length: 2\r\n'), BROKEN],
    ['CR alone in a header', lengths('x-a: b\rx-evil: 1\r\ncontent-length: 2\r\n'), BROKEN],
    ['LF alone in a header', lengths('x-a: b\nx-evil: 1\r\ncontent-length: 2\r\n'), BROKEN],
    ['a header on two lines', lengths('x-a: b\r\n x-evil: 1\r\ncontent-length: 2\r\n'), BROKEN],
    ['NUL in a header', lengths('x-a: b\0c\r\ncontent-length: 2\r\n'), BROKEN],
    ['a control character in a header', lengths('x-a: b\x01c\r\ncontent-length: 2\r\n'), BROKEN],
    ['a blank before the colon', lengths('x-evil : b\r\ncontent-length: 2\r\n'), BROKEN],
    ['a name that is none', lengths('x"evil: b\r\ncontent-length: 2\r\n'), BROKEN],
    ['a status below 100', 'HTTP/1.1 099 X\r\ncontent-length: 2\r\n\r\n{}', BROKEN],
    ['a status of four digits', 'HTTP/1.1 2000 X\r\ncontent-length: 2\r\n\r\n{}', BROKEN],
    ['another protocol', 'HTTP/1.1 101 X\r\nupgrade: evil\r\nconnection: upgrade\r\n\r\n', BROKEN],
    ['no HTTP', '"evil"\r\n\r\n', BROKEN],
    ['headers without end', lengths(`x: ${'y'.repeat(200_000)}\r\ncontent-length: 2\r\n`), BROKEN],
    ['a chunk that is too large for a number', chunked('10000000000000002\r\n{}\r\n0\r\n\r\n'), BROKEN],
    ['chunks with LF alone', chunked('2\n{}\n0\n\n'), BROKEN],
    ['a second answer behind it', plain('{}') + SECOND, 200],
    ['a second answer behind chunks', chunked(`2\r\n{}\r\n0\r\n\r\n${SECOND}`), 200],
    ['a second answer behind one without a body', `HTTP/1.1 204 No Content\r\n\r\n${SECOND}`, 204],
    ['rubbish behind it', `${plain('{}')}"evil"`, 200],
    ['chunks with extensions', chunked('2;a=b\r\n{}\r\n0\r\n\r\n'), 200],
    ['trailers', chunked('2\r\n{}\r\n0\r\nx-evil: 1\r\n\r\n', `${CHUNKED}trailer: x-evil\r\n`), 200],
    ['its length named by connection', lengths('connection: content-length\r\ncontent-length: 2\r\n'), 200],
    ['a header named by connection', lengths('connection: x-evil\r\nx-evil: 1\r\ncontent-length: 2\r\n'), 200],
    ['headers that are ours', lengths('x-request-id: evil\r\nx-twinyard-replica: evil\r\ncontent-length: 2\r\n'), 200],
    ['hints before it', 'HTTP/1.1 103 Early Hints\r\nx-evil: 1\r\n\r\n'.repeat(10) + plain('{}'), 200],
  ])('%s', async (_, bytes, status) => {
    const replica = await RawReplica.start();
    const gateway = await gatewayOver([replica], { retries: { most: 0, backoffMs: 0, budget: 0 } });
    replica.response = ({ socket, text }) => {
      if (text.includes('x-mark: sound')) socket.write(plain('["sound"]'));
      else socket.write(bytes, 'latin1');
    };
    const client = new RawClient(gateway.url).send(postText(PROMPT));
    while (responsesIn(client.text).responses.length === 0 && !client.isClosed)
      await client.until(new RegExp(`^[\\s\\S]{${client.text.length + 1}}`));
    const [first] = responsesIn(client.text).responses;
    expect([first?.status, first?.body]).toEqual([
      status,
      status === 200 ? '{}' : status === 204 ? '' : expect.any(String),
    ]);
    if (status === BROKEN) expect(JSON.parse(first!.body)).toMatchObject({ error: { code: 'upstream_error' } });
    client.send(postText(PROMPT, 'x-mark: sound\r\nconnection: close\r\n'));
    const { responses, rest } = responsesIn(await client.closed());
    expect([responses.slice(1).map(({ body }) => body), rest]).toEqual([['["sound"]'], '']);
    expect(client.text).not.toContain('evil');
    await expectSound(gateway, replica);
  });

  test('endless 1xx responses are refused', async () => {
    const replica = await RawReplica.start();
    const timeouts = { ...configFor([]).timeouts, firstByteMs: 100, totalMs: 100 };
    const gateway = await gatewayOver([replica], { timeouts, retries: { most: 0, backoffMs: 0, budget: 0 } });
    replica.response = ({ socket }) => {
      const hinting = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 5);
      socket.on('close', () => clearInterval(hinting));
    };
    const client = new RawClient(gateway.url).send(postText(PROMPT, 'connection: close\r\n'));
    const { responses } = responsesIn(await client.closed());
    expect([502, 504]).toContain(responses[0]!.status);
    expect(responses).toHaveLength(1);
    expectIdle(gateway);
  });
});

describe('TLS', () => {
  /** The status of a response over TLS, and the name in the certificate. */
  const asked = (url: string, body?: string): Promise<[status: number, name: string]> =>
    new Promise((resolve, reject) => {
      const method = body === undefined ? 'GET' : 'POST';
      const call = httpsRequest(url, { method, rejectUnauthorized: false, agent: false }, (response) => {
        resolve([response.statusCode!, String((response.socket as TLSSocket).getPeerCertificate().subject.CN)]);
        response.resume();
      });
      call.on('error', reject);
      call.end(body);
    });

  test('works on both ports, and certificates are renewed while requests are under way', async ({ skip }) => {
    const [forPublic, forAdmin] = [makeCertificate(folder, 'clients'), makeCertificate(folder, 'keepers')];
    skip(forPublic === null || forAdmin === null, 'there is no openssl here');
    const replica = await RawReplica.start();
    const at = { host: '127.0.0.1', port: 0 };
    const gateway = await gatewayOver([replica], {
      listen: { ...at, tls: forPublic },
      admin: { ...at, tls: forAdmin },
    });
    expect([gateway.url, gateway.adminUrl].map((url) => new URL(url).protocol)).toEqual(['https:', 'https:']);
    expect(await asked(`${gateway.url}/v1/completions`, PROMPT)).toEqual([200, 'clients']);
    expect(await asked(`${gateway.adminUrl}/metrics`)).toEqual([200, 'keepers']);
    replica.response = () => {};
    const held = asked(`${gateway.url}/v1/completions`, PROMPT);
    await until(() => replica.seen.length === 2);
    // The same files with other contents, as after a certificate renewal.
    makeCertificate(folder, 'clients again', 'clients');
    makeCertificate(folder, 'keepers again', 'keepers');
    expect(gateway.reload(gateway.config)).toEqual([]);
    expect(await asked(`${gateway.url}/health`)).toEqual([200, 'clients again']);
    expect(await asked(`${gateway.adminUrl}/health`)).toEqual([200, 'keepers again']);
    replica.seen[1]!.socket.write(plain('{}'));
    expect(await held).toEqual([200, 'clients']);
    expect(await new RawClient(gateway.url.replace('https', 'http')).send(postText(PROMPT)).closed()).not.toContain(
      '200',
    );
  });
});

describe('client certificates', () => {
  const at = { host: '127.0.0.1', port: 0 };
  const read = ({ cert, key }: CertificateFiles) => ({ cert: readFileSync(cert), key: readFileSync(key) });

  test('are required of clients where a CA is set, and of another CA they are refused', async ({ skip }) => {
    const [server, client, other] = ['server', 'client', 'other'].map((name) =>
      makeCertificate(folder, `mtls-${name}`),
    );
    skip(server === null, 'there is no openssl here');
    const replica = await RawReplica.start();
    const gateway = await gatewayOver([replica], { listen: { ...at, tls: { ...server!, clientCa: client!.cert } } });
    const ask = (own: Partial<ReturnType<typeof read>>) =>
      new Promise<number | string>((resolve) => {
        const options = { method: 'POST', agent: false, ca: readFileSync(server!.cert), ...own };
        const call = httpsRequest(`${gateway.url}/v1/completions`, options, (response) => {
          response.resume();
          resolve(response.statusCode!);
        });
        call.on('error', () => resolve('refused'));
        call.end(PROMPT);
      });
    expect(await ask(read(client!))).toBe(200);
    expect(await ask({})).toBe('refused');
    expect(await ask(read(other!))).toBe('refused');
    expect(replica.seen).toHaveLength(1);
    // Whether certificates are needed is settled at the start.
    const open = { ...gateway.config, listen: { ...gateway.config.listen, tls: server! } };
    expect(gateway.reload(open)).toEqual(['listen']);
    expect(await ask({})).toBe('refused');
    expect(await ask(read(client!))).toBe(200);
  });

  test('are presented to replicas, in requests and in health checks', async ({ skip }) => {
    const [engine, own] = ['engine', 'gateway'].map((name) => makeCertificate(folder, `mtls-${name}`));
    skip(engine === null, 'there is no openssl here');
    const names: string[] = [];
    const tls = { ...read(engine!), ca: readFileSync(own!.cert), requestCert: true, rejectUnauthorized: true };
    const server = createHttpsServer(tls, (request, response) => {
      names.push(`${request.url} ${(request.socket as TLSSocket).getPeerCertificate().subject.CN}`);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(request.url === '/v1/models' ? '{"data":[{"id":"m"}]}' : '{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    afterwards(async () => {
      server.closeAllConnections();
      server.close();
    });
    const replica = { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` };
    const gateway = await gatewayOver([replica], { replicaTls: { ca: engine!.cert, ...own! } });
    const ask = async ({ url }: Gateway) =>
      (await fetch(`${url}/v1/completions`, { method: 'POST', body: PROMPT })).status;
    expect(await ask(gateway)).toBe(200);
    expect(names).toContain('/health mtls-gateway');
    expect(names).toContain('/v1/completions mtls-gateway');
    for (const replicaTls of [null, { ca: engine!.cert, cert: null, key: null }, { ca: null, ...own! }]) {
      expect(await ask(await gatewayOver([replica], { replicaTls }))).not.toBe(200);
    }
    const unread = { ca: join(folder, 'absent.pem'), cert: null, key: null };
    expect(() => new Gateway(configFor([], { replicaTls: unread }))).toThrow(/absent.pem: cannot be read/);
    const invalid = { ca: engine!.key, cert: null, key: null };
    expect(() => new Gateway(configFor([], { replicaTls: invalid }))).toThrow(/no certificate/);
  });
});

describe('secrets', () => {
  test('appear in no output', async () => {
    const [replica, gateway] = await pair();
    const told: string[] = [];
    gateway.onFault = (error) => told.push(String((error as Error).stack));
    gateway.config = {
      ...gateway.config,
      store: 'postgres://keeper:planted-password@db/keys?sslpassword=planted-password',
      tracing: { endpoint: 'https://planted-token@collector/v1?key=planted-token', sample: 1 },
    };
    const headers = 'authorization: Bearer planted-key\r\nx-api-key: planted-key\r\nconnection: close\r\n';
    const prompt = '{"model":"m","prompt":"planted-prompt"}';
    const requests = [
      postText(prompt, headers),
      postText(prompt.slice(1), headers),
      postText('{"model":"n","prompt":"planted-prompt"}', headers),
      postText(prompt, `${headers}bad header\r\n`),
      postText(prompt, `${headers}host: again\r\n`),
      postText(prompt, `${headers}content-encoding: gzip\r\n`),
      postText(prompt, headers, '/nothing'),
    ];
    for (const request of requests) told.push(await new RawClient(gateway.url).send(request).closed());
    replica.response = ({ socket }) => void socket.end('planted-prompt');
    told.push(await new RawClient(gateway.url).send(requests[0]!).closed());
    // A replica gets the prompt, and never the key.
    told.push(...replica.seen.map(({ text }) => text.replace('planted-prompt', '')));
    for (const authorization of ['Bearer planted-key', `Bearer ${gateway.adminToken}`]) {
      for (const { method, path } of API_ROUTES.filter((route) => route.response.type !== 'stream')) {
        const init = { method, headers: { authorization }, ...(method === 'GET' ? {} : { body: '{}' }) };
        const response = await fetch(gateway.adminUrl + path.replace(/\{\w+\}/g, 'none'), init);
        told.push(`${[...response.headers].join('\n')}\n${await response.text()}`);
      }
    }
    told.push(await (await fetch(`${gateway.adminUrl}/metrics`)).text());
    expect(told.join('\n')).toContain('postgres://keeper:***@db/keys?***');
    for (const text of told) {
      expect(text).not.toContain('planted');
      expect(text).not.toContain(gateway.adminToken);
    }
  });
});

describe('slow clients hold nothing forever', () => {
  const PATIENT = { ...configFor([]).timeouts, headersMs: 60_000, bodyMs: 60_000, idleMs: 60_000 };

  test.each<[string, 'url' | 'adminUrl', string]>([
    ['a client that sends nothing', 'url', ''],
    ['a client that sends half its headers', 'url', 'POST /v1/completions HTTP/1.1\r\nhost: h\r\nx-a: '],
    ['a keeper who sends nothing', 'adminUrl', ''],
    ['a keeper who sends half his headers', 'adminUrl', 'GET /metrics HTTP/1.1\r\nhost'],
  ])('%s gets 408 when its time is up', async (_, port, bytes) => {
    const gateway = await gatewayOver([], { timeouts: { ...PATIENT, headersMs: 20 } });
    const { responses } = responsesIn(await new RawClient(gateway[port]).send(bytes).closed());
    expect(responses.map(({ status }) => status)).toEqual([408]);
  });

  test('a client that sends half its body gets 408, and no replica receives it', async () => {
    const replica = await RawReplica.start();
    const gateway = await gatewayOver([replica], { timeouts: { ...PATIENT, bodyMs: 20 } });
    const client = new RawClient(gateway.url).send(postText(PROMPT).slice(0, -5));
    expect(responsesIn(await client.closed()).responses.map(({ status }) => status)).toEqual([408]);
    expectSent(replica, []);
    expectIdle(gateway);
  });

  test('a client that does not read its response is disconnected, and its replica is free', async () => {
    const replica = await RawReplica.start();
    const gateway = await gatewayOver([replica], { timeouts: { ...PATIENT, idleMs: 40 } });
    let isFree = false;
    replica.response = ({ socket }) => {
      socket.on('close', () => {
        isFree = true;
      });
      const event = `data: ${'x'.repeat(65_536)}\n\n`;
      const length = 512 * event.length;
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${length}\r\n\r\n`);
      socket.write(event.repeat(512));
    };
    const client = new RawClient(gateway.url);
    client.socket.pause();
    client.send(postText(PROMPT));
    await until(() => isFree);
    await until(() => gateway.inFlight === 0);
    expectIdle(gateway);
  });

  test('no more connections are accepted than the limit', async () => {
    const limits = { ...configFor([]).limits, connections: 2 };
    const gateway = await gatewayOver([], { limits });
    const held = [new RawClient(gateway.url), new RawClient(gateway.url)];
    for (const client of held) await client.send('GET /health HTTP/1.1\r\nhost: h\r\n\r\n').until(/alive/);
    expect(await new RawClient(gateway.url).send('GET /health HTTP/1.1\r\nhost: h\r\n\r\n').closed()).toBe('');
    // Operators use the admin port.
    expect((await fetch(`${gateway.adminUrl}/health`)).status).toBe(200);
    held[0]!.socket.destroy();
    let text = '';
    while (text === '') {
      text = await new RawClient(gateway.url)
        .send('GET /health HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n')
        .closed();
    }
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
  });

  test.each([
    [[], ''],
    [['127.0.0.1'], 'alive'],
  ])(
    'no more connections are accepted from one address than the limit, unless it is a proxy: %j',
    async (trustedProxies, expected) => {
      const limits = { ...configFor([]).limits, connectionsPerAddress: 2 };
      const gateway = await gatewayOver([], { limits, http: { ...GATEWAY_DEFAULTS.http, trustedProxies } });
      const ask = () => new RawClient(gateway.url).send('GET /health HTTP/1.1\r\nhost: h\r\n\r\n');
      const held = [ask(), ask()];
      for (const client of held) await client.until(/alive/);
      const third = ask();
      if (expected === '') expect(await third.closed()).toBe('');
      else await third.until(/alive/);
      for (const client of held) client.socket.destroy();
      let text = '';
      while (text === '') {
        text = await new RawClient(gateway.url)
          .send('GET /health HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n')
          .closed();
      }
      expect(text).toMatch(/^HTTP\/1\.1 200 /);
    },
  );
});

describe('web pages', () => {
  const POST = (headers: string) => postText(PROMPT, `${headers}connection: close\r\n`);

  test('of other sites, and names that were rebound to this machine, get 403 where no key is needed', async () => {
    const [replica, gateway] = await pair();
    const get = (path: string, headers: string) => `GET ${path} HTTP/1.1\r\n${headers}connection: close\r\n\r\n`;
    for (const headers of ['host: h\r\norigin: https://evil.example\r\n', 'host: evil.example\r\n']) {
      for (const path of ['/v1/models', '/health']) {
        expect(await new RawClient(gateway.url).send(get(path, headers)).closed()).toMatch(/^HTTP\/1\.1 403 /);
      }
      for (const path of ['/metrics', '/health']) {
        const text = await new RawClient(gateway.adminUrl).send(get(path, headers)).closed();
        expect(text).toMatch(/^HTTP\/1\.1 403 /);
        expect(text).toContain('API_FORBIDDEN');
        expect(text).not.toContain('access-control-');
      }
    }
    expect(await new RawClient(gateway.url).send(POST('origin: https://evil.example\r\n')).closed()).toMatch(
      /^HTTP\/1\.1 403 /,
    );
    expect(replica.seen).toEqual([]);
    expect(await new RawClient(gateway.url).send(POST('origin: http://localhost:3000\r\n')).closed()).toMatch(
      /^HTTP\/1\.1 200 /,
    );
    expectIdle(gateway);
  });

  test('of listed origins may send requests and read the responses', async () => {
    const replica = await RawReplica.start();
    const cors = 'access-control-allow-origin: https://other.example\r\naccess-control-allow-credentials: true\r\n';
    replica.response = ({ socket }) => void socket.write(plain('{}', '200 OK', `set-cookie: a=1\r\n${cors}`));
    const http = { ...GATEWAY_DEFAULTS.http, corsOrigins: ['https://ui.example'] };
    const gateway = await gatewayOver([replica], { http });
    const url = `${gateway.url}/v1/completions`;
    const asks = { origin: 'https://ui.example', 'access-control-request-method': 'POST' };
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: { ...asks, 'access-control-request-headers': 'authorization,content-type' },
    });
    expect([preflight.status, Object.fromEntries(preflight.headers)]).toMatchObject([
      204,
      {
        'access-control-allow-origin': 'https://ui.example',
        'access-control-allow-headers': 'authorization,content-type',
        'access-control-allow-methods': expect.stringContaining('POST'),
        vary: 'origin',
      },
    ]);
    const response = await fetch(url, { method: 'POST', body: PROMPT, headers: { origin: 'https://ui.example' } });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, 'https://ui.example']);
    expect(response.headers.get('access-control-allow-credentials')).toBe(null);
    const others = await fetch(url, { method: 'OPTIONS', headers: { ...asks, origin: 'https://evil.example' } });
    expect([others.status, others.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  });

  test('get neither cookies nor CORS headers of replicas', async () => {
    const replica = await RawReplica.start();
    const cors = 'Access-Control-Allow-Origin: *\r\naccess-control-expose-headers: x\r\n';
    replica.response = ({ socket }) =>
      void socket.write(plain('{}', '200 OK', `Set-Cookie: a=1\r\nset-cookie: b=2\r\n${cors}x-kept: 1\r\n`));
    const gateway = await gatewayOver([replica]);
    const text = await new RawClient(gateway.url).send(POST('')).closed();
    expect(text).toContain('x-kept: 1\r\n');
    expect(text.toLowerCase()).not.toMatch(/set-cookie|access-control/);
  });
});

describe('x-forwarded-for', () => {
  test.each([
    ['made from the connection', [], /x-forwarded-for: 127\.0\.0\.1\r\n/, false],
    ['extended where a trusted proxy sent it', ['127.0.0.0/8'], /x-forwarded-for: 1\.2\.3\.4, 127\.0\.0\.1\r\n/, true],
  ])('is %s', async (_, trustedProxies, expected, isPassed) => {
    const replica = await RawReplica.start();
    const gateway = await gatewayOver([replica], { http: { ...GATEWAY_DEFAULTS.http, trustedProxies } });
    const headers = 'X-Forwarded-For: 1.2.3.4\r\nforwarded: for=1.2.3.4\r\nx-real-ip: 1.2.3.4\r\nconnection: close\r\n';
    await new RawClient(gateway.url).send(postText(PROMPT, headers)).closed();
    const { text } = replica.seen[0]!;
    expect(text).toMatch(expected);
    expect(text.match(/x-forwarded-for/gi)).toHaveLength(1);
    expect(text.includes('for=1.2.3.4')).toBe(isPassed);
    expect(text.includes('x-real-ip')).toBe(isPassed);
  });
});

describe('docs/security.md', () => {
  const textOf = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
  const page = textOf('docs/security.md');
  const proofs = [...page.matchAll(/`([\w./-]+\.ts)`: "([^"]+)"/g)].map(([, file, title]) => [file!, title!] as const);

  test('has tests for its promises', () => {
    expect(proofs.length).toBeGreaterThan(25);
  });

  test.each(proofs)('%s: %s', (file, title) => {
    const titles = [...textOf(file).matchAll(/\(\s*(['"`])(.*?)\1,\s*(?:async\b|\()/g)].map((match) => match[2]!);
    expect(titles).toContain(title);
  });
});
