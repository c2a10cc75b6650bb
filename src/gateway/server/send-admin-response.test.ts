import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../protocol/errors.js';
import { startGateway, until } from '../fake-engine.fixture.js';
import type { Gateway } from '../gateway.js';
import { Client, get } from '../http/http-port.fixture.js';
import type { HttpResponse } from '../http/http-response.js';
import type { AdminCall, AdminResponse } from './admin-api.js';
import { sendAdminResponse } from './send-admin-response.js';

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** A gateway whose API is a function. */
async function gatewayOf(response: (call: AdminCall) => AdminResponse | Promise<AdminResponse>): Promise<Gateway> {
  const gateway = await startGateway([], { endpoints: [] });
  gateway.api = {
    handle: async (call) => response(call),
    metricsFor: async () => ({ refusal: null, workspaces: undefined }),
  };
  opened.push(() => gateway.close(0));
  return gateway;
}

function ask(gateway: Gateway, path: string, options: RequestInit = {}): Promise<Response> {
  return fetch(`${gateway.adminUrl}${path}`, options);
}

describe('the admin port', () => {
  it('hands calls to the API and sends its responses', async () => {
    const calls: AdminCall[] = [];
    const gateway = await gatewayOf(async (call) => {
      calls.push(call);
      return { status: 201, body: { said: await call.body(100) }, headers: ['etag', '"7"'] };
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
    const [{ address, header, method, path, query, signal }] = calls as [AdminCall];
    expect(address).toBe('127.0.0.1');
    expect([method, path, query.get('c'), header('if-match')]).toEqual(['PUT', '/api/x/a%2Fb', 'd', '"6"']);
    expect(signal.aborted).toBe(false);
  });

  it('serves health and metrics itself, and returns 404 for the rest without an API', async () => {
    const gateway = await gatewayOf(() => ({ status: 200, body: 'plain', type: 'text/plain' }));
    expect(await (await ask(gateway, '/api/x')).text()).toBe('plain');
    expect(await (await ask(gateway, '/health')).json()).toEqual({ status: 'alive' });
    expect(await (await ask(gateway, '/metrics')).text()).toContain('twinyard_in_flight 0');
    gateway.api = null;
    expect((await ask(gateway, '/api/x')).status).toBe(404);
  });

  it('reports an error of the body, and survives a bug', async () => {
    const gateway = await gatewayOf(async ({ body, path }) => {
      if (path.endsWith('large')) return { status: 200, body: await body(1024) };
      if (path.endsWith('refused')) throw new ApiError('forbidden', 'not you');
      throw new TypeError('a bug');
    });
    const refused = await ask(gateway, '/api/x/refused');
    expect([refused.status, await refused.json()]).toEqual([
      403,
      { error: { code: 'API_FORBIDDEN', message: 'not you', hint: '' } },
    ]);
    const large = await ask(gateway, '/api/x/large', { method: 'POST', body: 'x'.repeat(1025) });
    expect([large.status, ((await large.json()) as { error: object }).error]).toEqual([
      413,
      expect.objectContaining({ code: 'API_TOO_LARGE' }),
    ]);
    const bug = await ask(gateway, '/api/x/bug');
    expect([bug.status, gateway.metrics.faults]).toEqual([500, 1]);
    expect(await bug.json()).toEqual({
      error: { code: 'API_INTERNAL', message: 'internal error', hint: "see the gateway's log" },
    });
  });
});

describe('a stream of the API', () => {
  it('is sent piece by piece', async () => {
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

  it('ends when the client disconnects, and its source is aborted', async () => {
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

  it('ends when the gateway stops, also while it is silent', async () => {
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

  it('is sent with back-pressure', async () => {
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

  it('is sent to its end before a pipelined request is read: no response is held behind it', async () => {
    const asked: string[] = [];
    let end = () => {};
    const gateway = await gatewayOf(({ path }) => {
      asked.push(path);
      if (path !== '/api/stream') return { status: 200, body: path, type: 'text/plain' };
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      const stream = (async function* () {
        yield 'data: 1\n\n';
        await ended;
      })();
      return { status: 200, stream };
    });
    const client = new Client({ url: gateway.adminUrl }).send(get('/api/stream') + get('/api/1') + get('/api/2'));
    await client.has(/data: 1/);
    client.send(get('/api/3', 'connection: close\r\n'));
    // Another client is served when the bytes of the first have been read.
    await ask(gateway, '/health');
    expect(asked).toEqual(['/api/stream']);
    end();
    expect(await client.closed()).toMatch(/\/api\/1[\s\S]*\/api\/2[\s\S]*\/api\/3$/);
  });

  it('retains nothing of what it has sent', async () => {
    setFlagsFromString('--expose_gc');
    const collect = runInNewContext('gc') as () => void;
    const heapUsed = () => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const pieces = 20_000;
    const filler = 'x'.repeat(2048);
    let grown = 0;
    const stream = (async function* () {
      const before = heapUsed();
      for (let i = 0; i < pieces; i++) yield Buffer.from(`${filler}${i}`).toString('latin1');
      grown = heapUsed() - before;
    })();
    const [sink, { signal }] = [
      { writeHead() {}, flushHeaders() {}, write: () => true, end() {} },
      new AbortController(),
    ];
    await sendAdminResponse(sink as unknown as HttpResponse, { status: 200, stream }, signal);
    expect(grown).toBeLessThan((pieces * filler.length) / 4);
  });

  it('that fails is cut off and counted as a fault', async () => {
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
