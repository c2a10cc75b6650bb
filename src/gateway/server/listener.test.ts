import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { BlockList, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type SecureVersion, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { ListenConfig } from '../config/gateway-config.js';
import { readTls } from '../config/read-tls.js';
import { reply } from '../http/http-port.fixture.js';
import type { HttpRequest } from '../http/http-request.js';
import { makeCertificate } from './certificate.fixture.js';
import { Listener, type ListenerParts } from './listener.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-tls-'));
afterAll(() => rmSync(folder, { recursive: true }));

const opened: Listener[] = [];
afterEach(async () => {
  for (const listener of opened.splice(0)) {
    const stopped = listener.stop();
    listener.cut();
    await stopped;
  }
});

const LOOPBACK: ListenConfig = { host: '127.0.0.1', port: 0, tls: null };

const LONG = { headersMs: 60_000, bodyMs: 60_000, idleMs: 60_000 };

async function listening(
  config: ListenConfig,
  refused: number[] = [],
  change: Partial<ListenerParts> = {},
): Promise<Listener> {
  const listener = new Listener(config, {
    headerBytes: 4096,
    discardBytes: 100_000,
    mostAhead: 32,
    connections: 100,
    connectionsPerAddress: 100,
    uncapped: new BlockList(),
    timeouts: LONG,
    handler: (request, response) => reply(response, `you asked for ${request.url}`),
    refused: (status) => refused.push(status),
    fault: (error) => {
      throw error;
    },
    ...change,
  });
  await listener.start();
  opened.push(listener);
  return listener;
}

const certificate = (name: string) => makeCertificate(folder, name);

/** The response over TLS, and the name in the server's certificate. */
function asked(url: string): Promise<[text: string, name: string]> {
  return new Promise((resolve, reject) => {
    get(url, { rejectUnauthorized: false, agent: false }, (answer) => {
      const name = String((answer.socket as TLSSocket).getPeerCertificate().subject.CN);
      answer.setEncoding('utf8').on('data', (text: string) => resolve([text, name]));
    }).on('error', reject);
  });
}

/** The bytes received for some bytes sent, until the connection is closed. */
function told(url: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let got = '';
    const socket: Socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text));
    socket.on('data', (piece) => {
      got += piece;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(got));
  });
}

describe('Listener', () => {
  it('has the URL of its port', async () => {
    const listener = await listening(LOOPBACK);
    expect(listener.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await (await fetch(`${listener.url}/x`)).text()).toBe('you asked for /x');
    const six = await listening({ ...LOOPBACK, host: '::1' }).catch(() => null);
    if (six !== null) expect(six.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
  });

  it('rejects when the port is in use', async () => {
    const { url } = await listening(LOOPBACK);
    await expect(listening({ ...LOOPBACK, port: Number(new URL(url).port) })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });

  it('serves TLS, and applies a new certificate while it runs', async ({ skip }) => {
    const first = certificate('first');
    const second = certificate('second');
    skip(first === null || second === null, 'there is no openssl here');
    const listener = await listening({ ...LOOPBACK, tls: first });
    expect(listener.url).toMatch(/^https:/);
    expect(await asked(`${listener.url}/x`)).toEqual(['you asked for /x', 'first']);
    listener.renew(readTls(second!));
    expect(await asked(listener.url)).toEqual(['you asked for /', 'second']);
    await expect(asked(listener.url.replace('https', 'http'))).rejects.toThrow();
    expect(() => readTls({ cert: first!.cert, key: second!.key })).toThrowError(
      expect.objectContaining({ code: 'TLS_UNUSABLE' }),
    );
  });

  it('refuses TLS before 1.2, with its first certificate and with the next', async ({ skip }) => {
    const files = certificate('versions');
    skip(files === null, 'there is no openssl here');
    const listener = await listening({ ...LOOPBACK, tls: files });
    const spoken = (version: SecureVersion) =>
      new Promise<string>((resolve) => {
        const options = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' };
        const port = Number(new URL(listener.url).port);
        const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options }, () => {
          resolve(socket.getProtocol()!);
          socket.destroy();
        });
        socket.on('error', ({ message }) => resolve(message));
      });
    for (let round = 0; round < 2; round++) {
      expect(await spoken('TLSv1.3')).toBe('TLSv1.3');
      expect(await spoken('TLSv1.2')).toBe('TLSv1.2');
      expect(await spoken('TLSv1.1')).toMatch(/alert protocol version/);
      expect(await spoken('TLSv1')).toMatch(/alert protocol version/);
      listener.renew(readTls(files!));
    }
  });

  it('names certificate files that cannot be used', () => {
    const nonsense = join(folder, 'nonsense.pem');
    writeFileSync(nonsense, 'nonsense');
    expect(() => readTls({ cert: join(folder, 'none'), key: nonsense })).toThrowError(
      expect.objectContaining({
        code: 'TLS_UNUSABLE',
        place: join(folder, 'none'),
        problem: 'cannot be read (no such file)',
      }),
    );
    expect(
      () => new Listener({ ...LOOPBACK, tls: { cert: nonsense, key: nonsense } }, { timeouts: LONG } as never),
    ).toThrowError(expect.objectContaining({ code: 'TLS_UNUSABLE' }));
  });

  it.each([
    ['GET / SMTP\r\n\r\n', 400, 'not valid HTTP'],
    ['\x16\x03\x01', 400, 'not valid HTTP'],
    ['GET / HTTP/1.1\r\nhost: a\r\nbad header\r\n\r\n', 400, 'not valid HTTP'],
    ['GET / HTTP/1.1\r\n\r\n', 400, 'no host'],
    ['GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n', 400, 'more than one host'],
    ['CONNECT a:80 HTTP/1.1\r\nhost: a\r\n\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\n', 405, 'does not take CONNECT'],
    [`GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(5000)}\r\n\r\n`, 431, 'exceed the limit of 4096 bytes'],
    [`GET /${'y'.repeat(5000)} HTTP/1.1\r\nhost: a\r\n\r\n`, 431, 'exceed the limit of 4096 bytes'],
    ['POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab', 400, 'not valid HTTP'],
    [
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'not valid HTTP',
    ],
  ])('refuses %j with its reason', async (text, status, message) => {
    const refused: number[] = [];
    const { url } = await listening(LOOPBACK, refused);
    const answer = await told(url, text);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(refused).toEqual([status]);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toContain(`content-length: ${Buffer.byteLength(body)}`);
    expect(JSON.parse(body)).toMatchObject({
      error: { message: expect.stringContaining(message), type: 'invalid_request_error', param: null },
    });
  });

  it('reads nothing more from a connection after an ambiguous request', async () => {
    const asked: string[] = [];
    const { url } = await listening(LOOPBACK, [], {
      handler: ({ url: path }, response) => {
        asked.push(path);
        reply(response, 'fine');
      },
    });
    const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nhost: a\r\n${headers}\r\n`;
    const answer = await told(url, get('/1') + get('/2', 'host: b\r\n') + get('/3'));
    expect(asked).toEqual(['/1']);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  });

  it('closes the connection after a request to upgrade', async () => {
    const { url } = await listening(LOOPBACK);
    const upgrade = 'GET /1 HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n';
    const answer = await told(url, `${upgrade}GET /2 HTTP/1.1\r\nhost: a\r\n\r\n`);
    expect(answer).toContain('you asked for /1');
    expect(answer).not.toContain('/2');
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
  });

  it('sends the last response to a client that has pipelined more requests', async () => {
    const { url } = await listening(LOOPBACK);
    const last = 'GET /1 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
    expect(await told(url, `${last}GET /2 HTTP/1.1\r\nhost: a\r\n\r\n`)).toMatch(/you asked for \/1$/);
  });

  it('passes on every header, however many there are', async () => {
    const { url } = await listening(LOOPBACK, [], {
      headerBytes: 65_536,
      handler: (request, response) => reply(response, `${request.rawHeaders.length / 2} headers`),
    });
    const many = 'a:\r\n'.repeat(9000);
    expect(await told(url, `GET / HTTP/1.1\r\nhost: a\r\n${many}connection: close\r\n\r\n`)).toMatch(/9002 headers$/);
  });

  it('refuses a malformed request after the response that is under way', async () => {
    const refused: number[] = [];
    const listener = await listening(LOOPBACK, refused, {
      handler: (_, response) => {
        response.writeHead(200, ['content-length', '9']);
        response.write('half');
        setImmediate(() => response.end(' more'));
      },
    });
    const answer = await told(listener.url, 'GET / HTTP/1.1\r\nhost: a\r\n\r\nGET / SMTP\r\n\r\n');
    expect(answer).toMatch(/\r\n\r\nhalf moreHTTP\/1\.1 400 /);
    expect(refused).toEqual([400]);
  });
});

/** A connection for raw bytes, and what has been received over it. */
class Slow {
  text = '';
  readonly socket: Socket;
  readonly closed: Promise<string>;

  constructor(url: string, first: string) {
    this.socket = connect(Number(new URL(url).port), '127.0.0.1', () => this.socket.write(first));
    this.socket.on('data', (piece) => {
      this.text += piece;
    });
    this.socket.on('error', () => {});
    this.closed = new Promise((resolve) => this.socket.on('close', () => resolve(this.text)));
  }
}

describe('Listener that stops', () => {
  it.each([false, true])('waits for responses that are due, not for idle connections, TLS: %s', async (byTls) => {
    const tls = byTls ? certificate('stopping') : null;
    if (byTls && tls === null) return;
    let answer = () => {};
    let begun = () => {};
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const listener = await listening({ ...LOOPBACK, tls }, [], {
      handler: (_, response) => {
        answer = () => reply(response, 'late');
        begun();
      },
    });
    const port = Number(new URL(listener.url).port);
    const client = (): Socket => {
      const socket = byTls ? connectTls({ port, rejectUnauthorized: false }) : connect(port, '127.0.0.1');
      return socket.on('error', () => {});
    };
    const closed = (socket: Socket) => new Promise((resolve) => socket.resume().once('close', resolve));
    const unused = client();
    await new Promise((resolve) => unused.once(byTls ? 'secureConnect' : 'connect', resolve));
    const asking = client();
    let text = '';
    asking.on('data', (piece) => {
      text += piece;
    });
    asking.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    await isBegun;
    const both = [closed(unused), closed(asking)];
    const stopped = listener.stop();
    await both[0];
    answer();
    await Promise.all([stopped, ...both]);
    expect(text).toContain('late');
  });

  it('does not wait for a connection before its TLS handshake', async ({ skip }) => {
    const tls = certificate('handshake');
    skip(tls === null, 'there is no openssl here');
    const listener = await listening({ ...LOOPBACK, tls });
    const silent = new Slow(listener.url, '');
    await new Promise((resolve) => silent.socket.once('connect', resolve));
    // Later connections are accepted later.
    await asked(listener.url);
    await listener.stop();
    expect(await silent.closed).toBe('');
  });
});

describe('Listener and slow clients', () => {
  it.each([
    ['nothing', ''],
    ['half a request line', 'GET / HT'],
    ['half its headers', 'GET / HTTP/1.1\r\nhost: a\r\n'],
  ])('refuses a client that sends %s with 408', async (_, text) => {
    const refused: number[] = [];
    const { url } = await listening(LOOPBACK, refused, { timeouts: { ...LONG, headersMs: 20 } });
    const answer = await new Slow(url, text).closed;
    expect([answer.slice(0, 12), refused]).toEqual(['HTTP/1.1 408', [408]]);
    expect(answer).toContain('"code":"request_timeout"');
  });

  it('gives a body more time than headers, and not forever', async () => {
    const reading = { handler: (request: HttpRequest) => request.collect(100, () => {}) };
    const { url } = await listening(LOOPBACK, [], { ...reading, timeouts: { ...LONG, headersMs: 20 } });
    const begun = new Slow(url, 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf');
    // Longer than headers may take.
    expect(await new Slow(url, 'POST /').closed).toMatch(/^HTTP\/1\.1 408 /);
    expect([begun.text, begun.socket.destroyed]).toEqual(['', false]);
    begun.socket.destroy();
    const other = await listening(LOOPBACK, [], { ...reading, timeouts: { ...LONG, bodyMs: 20 } });
    const text = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf';
    expect(await new Slow(other.url, text).closed).toMatch(/^HTTP\/1\.1 408 /);
  });

  it.each(['408', '400'])('sends nothing more after a response that came before the body: no %s', async (status) => {
    const timeouts = { ...LONG, bodyMs: status === '408' ? 20 : 60_000 };
    const { url } = await listening(LOOPBACK, [], {
      timeouts,
      handler: (_, response) => reply(response, 'no!', 413),
    });
    const client = new Slow(url, 'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n');
    if (status === '400') client.socket.once('data', () => client.socket.write('nonsense\r\n'));
    expect((await client.closed).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413']);
  });

  it.each([false, true])('closes the connection of a client that does not read, TLS: %s', async (isTls) => {
    const tls = isTls ? certificate('reader') : null;
    if (isTls && tls === null) return;
    let left = () => {};
    const hasLeft = new Promise<void>((resolve) => {
      left = resolve;
    });
    const listener = await listening({ ...LOOPBACK, tls }, [], {
      timeouts: { ...LONG, idleMs: 40 },
      handler: (_, response) => {
        response.onClose = left;
        response.writeHead(200, []);
        response.write(Buffer.alloc(32 * 1024 * 1024));
      },
    });
    const port = Number(new URL(listener.url).port);
    const socket = isTls
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
      : connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await hasLeft;
    expect(listener.size).toBe(0);
    socket.destroy();
  });

  it('accepts no more connections than its limit, and new ones when others have closed', async () => {
    const listener = await listening(LOOPBACK, [], { connections: 2 });
    const held = [new Slow(listener.url, ''), new Slow(listener.url, '')];
    await Promise.all(held.map(({ socket }) => new Promise((resolve) => socket.on('connect', resolve))));
    const request = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
    expect(await new Slow(listener.url, request).closed).toBe('');
    expect(listener.dropped).toBe(1);
    held[0]!.socket.destroy();
    let answer = '';
    while (answer === '') answer = await new Slow(listener.url, request).closed;
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    held[1]!.socket.destroy();
  });
});
