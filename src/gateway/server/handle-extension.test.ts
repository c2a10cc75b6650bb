import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../protocol/errors.js';
import { GATEWAY_DEFAULTS, type GatewayConfig } from '../config/gateway-config.js';
import { startGateway, until } from '../fake-engine.fixture.js';
import type { Gateway } from '../gateway.js';
import type { ExtensionCall, ExtensionResponse } from './admin-extension.js';

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** A gateway whose admin port has something to say below /api/x/. */
async function gatewayOf(
  response: (call: ExtensionCall) => ExtensionResponse | Promise<ExtensionResponse>,
  change: Partial<GatewayConfig> = {},
): Promise<Gateway> {
  const gateway = await startGateway([], { endpoints: [], ...change });
  gateway.extension = { handles: (path) => path.startsWith('/api/x/'), handle: async (call) => response(call) };
  opened.push(() => gateway.close(0));
  return gateway;
}

function ask(gateway: Gateway, path: string, options: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${gateway.adminToken}`, ...(options.headers as Record<string, string>) };
  return fetch(`${gateway.adminUrl}${path}`, { ...options, headers });
}

describe('an extension of the admin API', () => {
  it('hears who asks and what, and is answered for', async () => {
    const calls: ExtensionCall[] = [];
    const gateway = await gatewayOf(async (call) => {
      calls.push(call);
      return { status: 201, body: { said: await call.body() }, headers: ['etag', '"7"'] };
    });
    const response = await ask(gateway, '/api/x/a%2Fb?c=d', {
      method: 'PUT',
      body: 'hé',
      headers: { 'if-match': '"6"' },
    });
    expect([
      response.status,
      response.headers.get('etag'),
      response.headers.get('content-type'),
      await response.json(),
    ]).toEqual([201, '"7"', 'application/json', { said: 'hé' }]);
    const [{ caller, header, method, path, query, signal }] = calls as [ExtensionCall];
    expect(caller).toEqual({ name: 'admin', role: 'admin', keyId: null });
    expect([method, path, query.get('c'), header('if-match')]).toEqual(['PUT', '/api/x/a%2Fb', 'd', '"6"']);
    expect(signal.aborted).toBe(false);
  });

  it('hears which key asks, whatever its role', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'twinyard-extension-'));
    opened.push(async () => rmSync(folder, { recursive: true }));
    const callers: unknown[] = [];
    const gateway = await gatewayOf(
      ({ caller }) => {
        callers.push(caller);
        return { status: 200, body: {} };
      },
      { store: ':memory:', dataDir: folder, access: { ...GATEWAY_DEFAULTS.access, keys: 'required' } },
    );
    for (const role of ['none', 'operator']) {
      const body = JSON.stringify({ name: `of ${role}`, role });
      const { id, key } = (await (await ask(gateway, '/api/keys', { method: 'POST', body })).json()) as Record<
        string,
        string
      >;
      const response = await ask(gateway, '/api/x/', { headers: { authorization: `Bearer ${key}` } });
      expect([response.status, callers.at(-1)]).toEqual([200, { name: `of ${role}`, role, keyId: id }]);
    }
  });

  it('is asked for its own paths alone, and by nobody who is not known', async () => {
    const gateway = await gatewayOf(() => ({ status: 200, body: 'plain', type: 'text/plain' }));
    expect(await (await ask(gateway, '/api/x/')).text()).toBe('plain');
    expect((await ask(gateway, '/api/y')).status).toBe(404);
    expect((await ask(gateway, '/api/x/', { headers: { authorization: 'Bearer no' } })).status).toBe(401);
  });

  it('may refuse, and may fail', async () => {
    const gateway = await gatewayOf(async ({ body, path }) => {
      if (path.endsWith('large')) return { status: 200, body: await body() };
      if (path.endsWith('refused')) throw new ApiError('forbidden', 'not you');
      throw new TypeError('a bug');
    });
    const refused = await ask(gateway, '/api/x/refused');
    expect([refused.status, await refused.json()]).toEqual([403, { error: 'not you' }]);
    const large = await ask(gateway, '/api/x/large', { method: 'POST', body: 'x'.repeat(2 ** 21) });
    expect(large.status).toBe(413);
    expect([(await ask(gateway, '/api/x/bug')).status, gateway.metrics.faults]).toEqual([500, 1]);
  });
});

describe('a stream of an extension', () => {
  it('goes out piece by piece', async () => {
    const gateway = await gatewayOf(() => ({
      status: 200,
      headers: ['x-mine', 'yes'],
      stream: (async function* () {
        yield 'data: 1\n\n';
        yield 'data: 2\n\n';
      })(),
    }));
    const response = await ask(gateway, '/api/x/');
    expect([response.headers.get('content-type'), response.headers.get('x-mine')]).toEqual([
      'text/event-stream',
      'yes',
    ]);
    expect(await response.text()).toBe('data: 1\n\ndata: 2\n\n');
    expect((await ask(gateway, '/api/x/', { method: 'HEAD' })).status).toBe(200);
  });

  it('ends when the client leaves, and whoever makes it hears of it', async () => {
    const heard: string[] = [];
    const gateway = await gatewayOf(({ signal }) => {
      signal.addEventListener('abort', () => heard.push('aborted'));
      return { status: 200, type: 'text/plain', stream: endless(heard) };
    });
    const leave = new AbortController();
    const response = await ask(gateway, '/api/x/', { signal: leave.signal });
    expect(response.headers.get('content-type')).toBe('text/plain');
    await response.body!.getReader().read();
    leave.abort();
    await until(() => heard.length === 2);
    expect(heard.sort()).toEqual(['aborted', 'ended']);
  });

  it('ends when the gateway stops, also while nothing comes', async () => {
    const gateway = await gatewayOf(({ path, signal }) => ({
      status: 200,
      stream: (async function* () {
        yield 'data: 1\n\n';
        if (path.endsWith('deaf')) await new Promise(() => {});
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      })(),
    }));
    const responses = await Promise.all([ask(gateway, '/api/x/a'), ask(gateway, '/api/x/deaf')]);
    const texts = responses.map((response) => response.text());
    await gateway.close(1e6);
    expect(await Promise.all(texts)).toEqual(['data: 1\n\n', 'data: 1\n\n']);
  });

  it('comes no faster than the client reads', async () => {
    let made = 0;
    let isWanted = true;
    const gateway = await gatewayOf(() => ({
      status: 200,
      stream: (async function* () {
        const piece = 'x'.repeat(65_536);
        for (; made < 4096 && isWanted; made++) {
          yield piece;
          await new Promise((resolve) => setImmediate(resolve));
        }
      })(),
    }));
    const response = await ask(gateway, '/api/x/');
    let before = -1;
    while (made !== before) {
      before = made;
      for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(made).toBeLessThan(4096);
    isWanted = false;
    await response.text();
  });

  it('that breaks is cut, and the keeper is told', async () => {
    const gateway = await gatewayOf(() => ({
      status: 200,
      stream: (async function* () {
        yield 'data: 1\n\n';
        throw new TypeError('a bug');
      })(),
    }));
    await expect(ask(gateway, '/api/x/').then((response) => response.text())).rejects.toThrow();
    expect(gateway.metrics.faults).toBe(1);
  });
});

async function* endless(heard: string[]): AsyncGenerator<string> {
  try {
    for (;;) {
      yield 'x';
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    heard.push('ended');
  }
}
