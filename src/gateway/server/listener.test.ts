import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { ListenConfig } from '../gateway-config.js';
import { Listener, readTls } from './listener.js';

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

async function listening(config: ListenConfig, refused: number[] = []): Promise<Listener> {
  const listener = new Listener(config, {
    headerBytes: 4096,
    handler: (request, response) => response.end(`you asked for ${request.url}`),
    refused: (status) => refused.push(status),
  });
  await listener.start();
  opened.push(listener);
  return listener;
}

/** Makes a throw-away certificate; false where there is no openssl. */
function certificate(name: string): NonNullable<ListenConfig['tls']> | null {
  const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  try {
    execFileSync(
      'openssl',
      ['req', '-x509', ...curve, '-nodes', '-days', '2', '-subj', `/CN=${name}`, '-keyout', key, '-out', cert],
      { stdio: 'ignore' },
    );
    return { cert, key };
  } catch {
    return null;
  }
}

/** What a server answers by TLS, and who it says it is. */
function asked(url: string): Promise<[text: string, name: string]> {
  return new Promise((resolve, reject) => {
    get(url, { rejectUnauthorized: false, agent: false }, (answer) => {
      const name = String((answer.socket as TLSSocket).getPeerCertificate().subject.CN);
      answer.setEncoding('utf8').on('data', (text: string) => resolve([text, name]));
    }).on('error', reject);
  });
}

/** What comes back for some bytes, until the connection is closed. */
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
  it('says where it is', async () => {
    const listener = await listening(LOOPBACK);
    expect(listener.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await (await fetch(`${listener.url}/x`)).text()).toBe('you asked for /x');
    const six = await listening({ ...LOOPBACK, host: '::1' }).catch(() => null);
    if (six !== null) expect(six.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
  });

  it('says so when a port is taken', async () => {
    const { url } = await listening(LOOPBACK);
    await expect(listening({ ...LOOPBACK, port: Number(new URL(url).port) })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });

  it('speaks TLS, and takes on a new certificate while it runs', async ({ skip }) => {
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

  it('names files that are of no use', () => {
    const nonsense = join(folder, 'nonsense.pem');
    writeFileSync(nonsense, 'nonsense');
    expect(() => readTls({ cert: join(folder, 'none'), key: nonsense })).toThrowError(
      expect.objectContaining({
        code: 'TLS_UNUSABLE',
        place: join(folder, 'none'),
        problem: 'cannot be read (ENOENT)',
      }),
    );
    expect(() => new Listener({ ...LOOPBACK, tls: { cert: nonsense, key: nonsense } }, {} as never)).toThrowError(
      expect.objectContaining({ code: 'TLS_UNUSABLE' }),
    );
  });

  it.each([
    ['GET / SMTP\r\n\r\n', 400, 'not valid HTTP'],
    ['\x16\x03\x01', 400, 'not valid HTTP'],
    ['GET / HTTP/1.1\r\nhost: a\r\nbad header\r\n\r\n', 400, 'not valid HTTP'],
    ['GET / HTTP/1.1\r\n\r\n', 400, ''],
    [`GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(5000)}\r\n\r\n`, 431, 'larger than this gateway takes'],
    [`GET /${'y'.repeat(5000)} HTTP/1.1\r\nhost: a\r\n\r\n`, 431, 'larger than this gateway takes'],
    ['POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab', 400, 'not valid HTTP'],
    [
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'not valid HTTP',
    ],
  ])('tells %j that it is no HTTP', async (text, status, message) => {
    const refused: number[] = [];
    const { url } = await listening(LOOPBACK, refused);
    const answer = await told(url, text);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    if (message === '') return;
    expect(refused).toEqual([status]);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toContain(`content-length: ${Buffer.byteLength(body)}`);
    expect(JSON.parse(body)).toMatchObject({
      error: { message: expect.stringContaining(message), type: 'invalid_request_error', param: null },
    });
  });

  it('does not spoil an answer that is under way', async () => {
    const refused: number[] = [];
    const listener = new Listener(LOOPBACK, {
      headerBytes: 4096,
      handler: (_, response) => void response.writeHead(200).write('half'),
      refused: (status) => refused.push(status),
    });
    await listener.start();
    opened.push(listener);
    const answer = await told(listener.url, 'GET / HTTP/1.1\r\nhost: a\r\n\r\nGET / SMTP\r\n\r\n');
    expect(answer).not.toContain('400');
    expect(refused).toEqual([]);
  });
});
