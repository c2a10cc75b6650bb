import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../fake-engine.fixture.js';
import { ask } from './ask.js';
import { RawServer, response } from './upstream.fixture.js';

let server: RawServer;
afterEach(() => server.stop());

const asked = async (bytes: string, timeoutMs = 50_000) => {
  server = new RawServer((socket) => socket.write(bytes));
  const pool = (await server.listen()).pool();
  return { pool, page: ask(pool, '/metrics', { timeoutMs, mostBytes: 10 }) };
};

describe('ask', () => {
  it('returns a complete page', async () => {
    const { page } = await asked(response('0123456789').replace('200', '503'));
    expect(await page).toEqual({ status: 503, text: '0123456789' });
  });

  it('refuses a page that is too large', async () => {
    const { page, pool } = await asked(response('x'.repeat(11)));
    await expect(page).rejects.toThrow('/metrics is larger than 10 bytes');
    await until(() => pool.stats.connections === pool.stats.idle);
  });

  it('does not wait forever, not even for the last byte', async () => {
    const { page, pool } = await asked(response('0123456789').slice(0, -1), 20);
    await expect(page).rejects.toMatchObject({ code: 'UPSTREAM_HEADERS_TIMEOUT' });
    expect(pool.stats.connections).toBe(0);
  });

  it('rejects with the cause', async () => {
    const { page, pool } = await asked('nonsense');
    await expect(page).rejects.toMatchObject({ code: 'UPSTREAM_MALFORMED' });
    await pool.destroy();
    const late = ask(pool, '/', { timeoutMs: 50_000, mostBytes: 10 });
    await expect(late).rejects.toMatchObject({ code: 'UPSTREAM_CLOSED' });
  });
});
