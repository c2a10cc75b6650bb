import { lookup } from 'node:dns';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openRegistry } from '../src/control/models/registry.js';
import { PageClient } from '../src/gateway/upstream/page-client.js';
import { GET, Listening, PATIENT } from '../src/gateway/upstream/upstream.fixture.js';
import { UpstreamPool } from '../src/gateway/upstream/upstream-pool.js';

vi.mock('node:dns', async (original) => {
  const real = await original<typeof import('node:dns')>();
  return { ...real, lookup: vi.fn(real.lookup) };
});

/** Where `rebound.example` leads at the next look-up. */
let leadsTo: string;
let server: Server;
let port: number;
let requests: string[];
let redirect: string | null;

beforeEach(async () => {
  leadsTo = '127.0.0.1';
  requests = [];
  redirect = null;
  server = createServer((request, response) => {
    requests.push(request.url!);
    if (redirect === null) response.end('[]');
    else response.writeHead(302, { location: redirect }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  port = (server.address() as AddressInfo).port;
  vi.mocked(lookup).mockImplementation(((_: string, __: object, done: (...given: unknown[]) => void) =>
    done(null, [{ address: leadsTo, family: leadsTo.includes(':') ? 6 : 4 }])) as unknown as typeof lookup);
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Every way in which addresses of resources are connected to; each returns the status, or why there is none. */
const TRANSPORTS: readonly [string, (url: string, isGuarded: boolean) => Promise<string>][] = [
  [
    'a request',
    async (url, isGuarded) => {
      const pool = new UpstreamPool(url, { ...PATIENT, isGuarded });
      const handler = new Listening();
      pool.dispatch(GET, handler);
      const { error, status } = await handler.over;
      await pool.destroy();
      return error === null ? String(status) : error.code!;
    },
  ],
  [
    'a health check',
    async (url, isGuarded) => {
      const pages = new PageClient(url, { connectMs: 50_000, keepAliveMs: 1000, mostConnections: 1, isGuarded });
      const page = pages.get({ path: '/health', headers: [] }, { timeoutMs: 50_000, mostBytes: 100 });
      const text = await page.then(
        ({ status }) => String(status),
        ({ code }: { code: string }) => code,
      );
      await pages.destroy();
      return text;
    },
  ],
  [
    'a registry',
    async (url, isGuarded) => {
      const registry = openRegistry('hugging-face', { url, isGuarded });
      const connection = await registry.connect();
      await registry.close();
      if (connection.connected) return '200';
      return connection.problem.message.includes('which only an admin may allow') ? 'ADDRESS_REFUSED' : 'other';
    },
  ],
];

describe.each(TRANSPORTS)('%s', (_, connected) => {
  test.each([
    'http://127.0.0.1',
    'http://2130706433',
    'http://[::ffff:127.0.0.1]',
    'http://localhost',
    'http://rebound.example',
  ])('does not reach this machine as %s, unless an admin allows it', async (origin) => {
    expect(await connected(`${origin}:${port}`, true)).toBe('ADDRESS_REFUSED');
    expect(requests).toEqual([]);
    // Without the guard undici and net use the look-up of the system.
    if (origin.includes('127')) expect(await connected(`${origin}:${port}`, false)).toBe('200');
  });

  test('is checked at every look-up: a name that changes its address is refused', async () => {
    const own = otherAddress();
    if (own === null) return;
    leadsTo = own;
    expect(await connected(`http://rebound.example:${port}`, true)).toBe('200');
    leadsTo = '127.0.0.1';
    expect(await connected(`http://rebound.example:${port}`, true)).toBe('ADDRESS_REFUSED');
    expect(requests).toHaveLength(1);
  });
});

test.skipIf(otherAddress() === null)('a registry is not left for this machine by a redirect', async () => {
  leadsTo = otherAddress()!;
  for (const target of ['127.0.0.1', '[::ffff:7f00:1]', 'localhost']) {
    redirect = `http://${target}:${port}/stolen`;
    expect(await TRANSPORTS[2]![1](`http://hub.example:${port}`, true), target).toBe('ADDRESS_REFUSED');
  }
  expect(requests.filter((url) => url === '/stolen')).toEqual([]);
});

/** An address of this machine that is not restricted; null without a network. */
function otherAddress(): string | null {
  const all = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? null;
}
