import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { Origin } from './origin.js';
import { Listening, PATIENT, POST, send } from './upstream.fixture.js';
import { UpstreamPool } from './upstream-pool.js';

describe('Origin', () => {
  it.each([
    ['http://gpu-1', false, 'gpu-1'],
    ['http://gpu-1:80', false, 'gpu-1'],
    ['http://127.0.0.1:8000', false, '127.0.0.1:8000'],
    ['https://[::1]:8443', true, '[::1]:8443'],
    ['https://gpu-1/', true, 'gpu-1'],
  ])('reads %s', (url, isSecure, authority) => {
    const origin = new Origin(url, undefined);
    expect([origin.isSecure, origin.authority]).toEqual([isSecure, authority]);
  });
});

const folder = mkdtempSync(join(tmpdir(), 'twinyard-upstream-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Creates a certificate for the test; null without openssl. */
function certificate(): { key: string; cert: string } | null {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1';
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-keyout', key, '-out', cert];
  try {
    execFileSync(
      'openssl',
      ['req', '-x509', '-nodes', '-days', '2', '-subj', '/CN=upstream', '-addext', names, ...made],
      { stdio: 'ignore' },
    );
  } catch {
    return null;
  }
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}

describe('a secure connection', () => {
  const tls = certificate();
  let server: Server | null = null;
  let pool: UpstreamPool | null = null;
  afterEach(async () => {
    await pool?.destroy();
    server?.closeAllConnections();
    server?.close();
    server = pool = null;
  });

  /** Echoes bodies, and reports whether the TLS session was resumed. */
  async function echoing(host: string, ca?: string): Promise<UpstreamPool> {
    server = createServer(tls!, (request, response) => {
      const { socket } = request as unknown as { socket: TLSSocket & { servername: string | false } };
      response.writeHead(200, { 'x-resumed': String(socket.isSessionReused()), 'x-name': String(socket.servername) });
      request.pipe(response);
    });
    await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
    const url = `https://${host}:${(server.address() as AddressInfo).port}`;
    pool = new UpstreamPool(url, { ...PATIENT, ...(ca !== undefined && { tls: { ca } }) });
    return pool;
  }

  const header = ({ headers }: Listening, name: string) => headers[headers.indexOf(name) + 1];

  it.runIf(tls !== null).each(['localhost', '127.0.0.1'])('carries bodies of any size, to %s', async (host) => {
    const secure = await echoing(host, tls!.cert);
    const bodies = [10, 60_000, 70_000, 3_000_000].map((size, i) => Buffer.alloc(size, 97 + i));
    const sent = await Promise.all(bodies.map((body) => send(secure, { ...POST, body }).over));
    for (const [i, { body, error }] of sent.entries()) {
      expect(error).toBeNull();
      expect(body).toBe(bodies[i]!.toString('latin1'));
    }
    expect(header(sent[0]!, 'x-name')).toBe(host === 'localhost' ? 'localhost' : 'false');
    expect(secure.stats).toMatchObject({ connections: 4, idle: 4 });
    expect((await send(secure).over).body).toBe('{"a":1}');
    expect(secure.stats.opened).toBe(4);
  });

  it.runIf(tls !== null)('can be paused, resumed and aborted', async () => {
    const secure = await echoing('localhost', tls!.cert);
    const slow = new Listening();
    slow.takes = false;
    slow.act = (call) => call === 'data' && setImmediate(() => slow.request!.resume());
    const body = Buffer.alloc(5_000_000, 'x');
    send(secure, { ...POST, body }, slow);
    const left = new Listening();
    left.act = (call) => call === 'data' && left.request!.abort();
    send(secure, { ...POST, body }, left);
    expect((await slow.over).body.length).toBe(body.length);
    expect(left.calls).toEqual(['headers', 'data']);
    expect(secure.stats).toMatchObject({ connections: 1, idle: 1 });
  });

  it.runIf(tls !== null)('resumes an earlier session', async () => {
    const secure = await echoing('localhost', tls!.cert);
    expect(header(await send(secure).over, 'x-resumed')).toBe('false');
    secure.sweep(performance.now() + 60_000);
    expect(secure.stats.connections).toBe(0);
    expect(header(await send(secure).over, 'x-resumed')).toBe('true');
  });

  it.runIf(tls !== null)('is not opened to a server with an untrusted certificate', async () => {
    const secure = await echoing('localhost');
    expect((await send(secure).over).error?.code).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
    expect(secure.stats.connections).toBe(0);
  });
});
