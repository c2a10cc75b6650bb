import { afterEach, describe, expect, it } from 'vitest';
import { PageClient } from './page-client.js';
import { RawServer, response } from './upstream.fixture.js';

let server: RawServer;
let client: PageClient;
afterEach(async () => {
  await client.destroy();
  await server.stop();
});

const OPTIONS = { connectMs: 50_000, keepAliveMs: 50_000, mostConnections: 4 };
const METRICS = { path: '/metrics', headers: [] };

async function page(bytes: string, timeoutMs = 50_000) {
  server = new RawServer((socket) => socket.write(bytes));
  client = new PageClient((await server.listen()).url, OPTIONS);
  return client.get(METRICS, { timeoutMs, mostBytes: 10 });
}

describe('PageClient', () => {
  it('returns a complete page', async () => {
    expect(await page(response('0123456789').replace('200', '503'))).toEqual({ status: 503, text: '0123456789' });
  });

  it('refuses a page that is too large', async () => {
    await expect(page(response('x'.repeat(11)))).rejects.toThrow('/metrics is larger than 10 bytes');
  });

  it('does not wait forever, not even for the last byte', async () => {
    const late = page(response('0123456789').slice(0, -1), 20);
    await expect(late).rejects.toMatchObject({ code: 'UPSTREAM_HEADERS_TIMEOUT' });
  });

  it('rejects with the codes that requests have', async () => {
    await expect(page('nonsense')).rejects.toMatchObject({ code: 'UPSTREAM_MALFORMED' });
    await client.destroy();
    const late = client.get(METRICS, { timeoutMs: 50_000, mostBytes: 10 });
    await expect(late).rejects.toMatchObject({ code: 'UPSTREAM_CLOSED' });
  });

  it('reports a connection that closes before the page is complete', async () => {
    server = new RawServer((socket) => socket.end(response('0123456789').slice(0, -1)));
    client = new PageClient((await server.listen()).url, OPTIONS);
    const cut = client.get(METRICS, { timeoutMs: 50_000, mostBytes: 10 });
    await expect(cut).rejects.toMatchObject({ code: 'UPSTREAM_CUT' });
  });
});
