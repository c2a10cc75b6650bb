import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { GATEWAY_DEFAULTS } from './config/gateway-config.js';
import { FakeEngine, sendJson, startGateway, until } from './fake-engine.fixture.js';
import type { Gateway } from './gateway.js';

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function engines(count: number): Promise<FakeEngine[]> {
  const list = await Promise.all(Array.from({ length: count }, () => FakeEngine.start()));
  opened.push(...list.map((engine) => () => engine.kill()));
  return list;
}

async function gatewayFor(...args: Parameters<typeof startGateway>): Promise<Gateway> {
  const gateway = await startGateway(...args);
  opened.push(() => gateway.close(0));
  return gateway;
}

const CHAT = { model: 'm', messages: [{ role: 'user', content: 'hello' }] };

function post(gateway: Gateway, body: unknown, headers: Record<string, string> = {}, path = '/v1/chat/completions') {
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

const SSE = { 'content-type': 'text/event-stream' };

describe('a request through the gateway', () => {
  it('reaches a replica as it was sent, and the response comes back unchanged', async () => {
    const [engine] = await engines(1);
    const gateway = await gatewayFor([engine!]);
    engine!.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json', 'x-engine': 'yes', connection: 'keep-alive' });
      response.end('{"a":1 ,  "b":[2]}');
    };
    const text = '{"model":"m","messages":[{"role":"user","content":"hé"}],"some_field":{"of":"mine"}}';
    const answer = await post(gateway, text, {
      'x-request-id': 'mine-1',
      'x-custom': 'kept',
      authorization: 'Bearer k',
    });
    expect([answer.status, await answer.text()]).toEqual([200, '{"a":1 ,  "b":[2]}']);
    expect(answer.headers.get('x-request-id')).toBe('mine-1');
    expect(answer.headers.get('x-twinyard-replica')).toBe('r0');
    expect(answer.headers.get('x-twinyard-decision')).toMatch(/^round-robin: /);
    expect(answer.headers.get('x-engine')).toBe('yes');
    const { body, request } = await engine!.got(1);
    expect(body).toBe(text);
    expect(request.url).toBe('/v1/chat/completions');
    expect(request.headers).toMatchObject({ 'x-custom': 'kept', 'x-request-id': 'mine-1' });
    expect(request.headers.authorization).toBeUndefined();
  });

  it('streams byte for byte', async () => {
    const [engine] = await engines(1);
    const gateway = await gatewayFor([engine!]);
    const pieces = ['data: {"a"', ':1}\n', '\ndata: [DONE]\r\n\r\n', ': comment\n\n'];
    engine!.answer = async ({ response }) => {
      response.writeHead(200, SSE);
      for (const piece of pieces) {
        response.write(piece);
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    };
    const answer = await post(gateway, { ...CHAT, stream: true });
    expect(await answer.text()).toBe(pieces.join(''));
    expect(gateway.endpoints.get('default')!.inFlight).toBe(0);
  });

  it('sends the headers of a stream with its first event, and does not wait for the second', async () => {
    const [engine] = await engines(1);
    const gateway = await gatewayFor([engine!]);
    engine!.answer = ({ response }) => {
      response.writeHead(200, SSE);
      response.flushHeaders();
    };
    const call = post(gateway, { ...CHAT, stream: true });
    await engine!.got(1);
    await until(() => gateway.underWay()[0]!.record.status === 200);
    engine!.seen[0]!.response.write('data: x\n\n');
    const answer = await call;
    expect(answer.status).toBe(200);
    engine!.seen[0]!.response.end('data: y\n\n');
    expect(await answer.text()).toBe('data: x\n\ndata: y\n\n');
  });

  it('holds the replica back while the client does not read', async () => {
    const [engine] = await engines(1);
    const gateway = await gatewayFor([engine!]);
    let sent = 0;
    let blocked = false;
    engine!.answer = ({ response }) => {
      response.writeHead(200, SSE);
      const more = () => {
        if (sent >= 64 * 1024 * 1024) response.end();
        else {
          sent += 65_536;
          if (response.write(Buffer.alloc(65_536, 'x'))) setImmediate(more);
          else {
            blocked = true;
            response.once('drain', more);
          }
        }
      };
      more();
    };
    const reading = new Promise<number>((resolve, reject) => {
      const call = httpRequest(`${gateway.url}/v1/chat/completions`, { method: 'POST' }, (response) => {
        response.pause();
        void until(() => blocked).then(() => {
          const held = sent;
          response.destroy();
          resolve(held);
        });
      });
      call.on('error', reject);
      call.end(JSON.stringify({ ...CHAT, stream: true }));
    });
    expect(await reading).toBeLessThan(64 * 1024 * 1024);
    await until(() => gateway.inFlight === 0);
  });

  it('goes to the endpoint that its path names', async () => {
    const [engine] = await engines(1);
    const gateway = await gatewayFor([engine!]);
    const answer = await post(gateway, CHAT, {}, '/workspace/default/endpoint/default/v1/completions?x=1');
    expect(answer.status).toBe(200);
    expect((await engine!.got(1)).request.url).toBe('/v1/completions?x=1');
    for (const path of ['/workspace/default/endpoint/other', '/workspace/w/endpoint/default']) {
      expect((await post(gateway, CHAT, {}, `${path}/v1/completions`)).status).toBe(404);
    }
  });
});

describe('a client that leaves', () => {
  it.each([
    ['before the headers', false],
    ['in the middle of a stream', true],
  ])('is noticed %s: its upstream request is aborted, and nothing stays booked', async (_, starts) => {
    const [engine] = await engines(1);
    const gateway = await gatewayFor([engine!]);
    engine!.answer = ({ response }) => {
      if (!starts) return;
      response.writeHead(200, SSE);
      response.write('data: 1\n\n');
    };
    const leave = new AbortController();
    const call = fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ ...CHAT, stream: true }),
      signal: leave.signal,
    });
    const seen = await engine!.got(1);
    const told = new Promise((resolve) => seen.response.on('close', resolve));
    if (starts) await (await call).body!.getReader().read();
    leave.abort();
    await call.catch(() => {});
    await told;
    await until(() => gateway.inFlight === 0);
    expect(gateway.endpoints.get('default')!.inFlight).toBe(0);
    expect(gateway.metrics.outcomes.get('client_left')).toBe(1);
    expect(gateway.replicas()[0]!.breaker.isOpen).toBe(false);
  });
});

describe('replicas that fail', () => {
  it('are replaced by another one while the client has not received a byte', async () => {
    const [first, second] = await engines(2);
    const gateway = await gatewayFor([first!, second!]);
    first!.answer = ({ request }) => request.socket.destroy();
    for (let i = 0; i < 4; i++) expect((await post(gateway, CHAT)).status).toBe(200);
    expect(second!.seen).toHaveLength(4);
    expect(gateway.metrics.retries).toBeGreaterThan(0);
    expect(gateway.endpoints.get('default')!.inFlight).toBe(0);
  });

  it.each([429, 500, 502, 503, 504])('with %i are replaced by another one', async (status) => {
    const [first, second] = await engines(2);
    const gateway = await gatewayFor([first!, second!]);
    first!.answer = ({ response }) => sendJson(response, status, { error: 'mine' });
    for (let i = 0; i < 2; i++) expect((await post(gateway, CHAT)).status).toBe(200);
  });

  it('are never tried twice for the same request, and the last response is passed on', async () => {
    const [only] = await engines(1);
    const gateway = await gatewayFor([only!]);
    only!.answer = ({ response }) => sendJson(response, 503, { error: 'mine' });
    const answer = await post(gateway, CHAT);
    expect(answer.status).toBe(503);
    expect(only!.seen).toHaveLength(1);
    expect(await answer.json()).toEqual({ error: 'mine' });
  });

  it('break a stream with an error event, not in silence', async () => {
    const [engine] = await engines(1);
    const gateway = await gatewayFor([engine!]);
    engine!.answer = ({ response }) => {
      response.writeHead(200, SSE);
      response.write('data: {}\n\ndata: {"half"', () => response.socket!.destroy());
    };
    const broken = async (options: object) => (await post(gateway, { ...CHAT, stream: true, ...options })).text();
    const told = 'data: \\{"error":\\{.*"upstream_error".*\\}\\}\\n\\n$';
    // Where the usage at the end is taken out, events are passed on whole.
    expect(await broken({})).toMatch(new RegExp(`^data: {}\\n\\n${told}`));
    const asked = await broken({ stream_options: { include_usage: true } });
    expect(asked).toMatch(new RegExp(`^data: {}\\n\\ndata: \\{"half"\\n\\n${told}`));
    expect(gateway.metrics.outcomes.get('upstream_error')).toBe(2);
  });

  it('open the breaker after failures in a row, and close it with the first success', async () => {
    const [engine] = await engines(1);
    const gateway = await gatewayFor([engine!], {
      breaker: { failures: 2, share: 1, windowMs: 0, openMs: 0 },
      retries: { most: 0, backoffMs: 0, budget: 0 },
    });
    const [replica] = gateway.replicas();
    const usual = engine!.answer;
    engine!.answer = ({ request }) => request.socket.destroy();
    await post(gateway, CHAT);
    expect(replica!.breaker.isOpen).toBe(false);
    await post(gateway, CHAT);
    expect(replica!.breaker.isOpen).toBe(true);
    engine!.answer = usual;
    expect((await post(gateway, CHAT)).status).toBe(200);
    expect(replica!.breaker.isOpen).toBe(false);
  });

  it('are not held responsible for client errors', async () => {
    const [engine] = await engines(1);
    const gateway = await gatewayFor([engine!], { breaker: { failures: 1, share: 1, windowMs: 0, openMs: 60_000 } });
    engine!.answer = ({ response }) => sendJson(response, 400, { error: { message: 'no' } });
    for (let i = 0; i < 5; i++) expect((await post(gateway, CHAT)).status).toBe(400);
    expect(gateway.replicas()[0]!.breaker.isOpen).toBe(false);
  });

  it('do not block the start, and join when they are healthy', async () => {
    const [engine] = await engines(1);
    engine!.health = 503;
    const gateway = await gatewayFor([engine!]);
    expect((await fetch(`${gateway.url}/ready`)).status).toBe(503);
    expect((await post(gateway, CHAT)).status).toBe(503);
    engine!.health = 200;
    await gateway.fleet.check();
    expect((await fetch(`${gateway.url}/ready`)).status).toBe(200);
    expect((await post(gateway, CHAT)).status).toBe(200);
  });

  it('time out when they send no first byte', async () => {
    const [engine] = await engines(1);
    const gateway = await gatewayFor([engine!], {
      timeouts: { ...GATEWAY_DEFAULTS.timeouts, connectMs: 60_000, firstByteMs: 20, idleMs: 60_000, totalMs: 60_000 },
      retries: { most: 0, backoffMs: 0, budget: 0 },
    });
    engine!.answer = () => {};
    const answer = await post(gateway, CHAT);
    expect(answer.status).toBe(504);
    expect(gateway.endpoints.get('default')!.inFlight).toBe(0);
  });

  it('are aborted at the total timeout', async () => {
    const [engine] = await engines(1);
    const gateway = await gatewayFor([engine!], {
      timeouts: { ...GATEWAY_DEFAULTS.timeouts, connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 1 },
    });
    engine!.answer = () => {};
    expect((await post(gateway, CHAT)).status).toBe(504);
  });

  it('silently lose their requests, and one that reports itself unhealthy does not', async () => {
    const [hung, leaving, other] = await engines(3);
    const gateway = await gatewayFor([hung!, leaving!, other!], {
      health: { intervalMs: 10, timeoutMs: 1000, failures: 1 },
    });
    for (const engine of [hung!, leaving!]) engine.answer = () => {};
    const held = [post(gateway, CHAT), post(gateway, CHAT)];
    await Promise.all([hung!.got(1), leaving!.got(1)]);
    const gone = new Promise((resolve) => hung!.seen[0]!.response.on('close', resolve));
    hung!.hangs.add('/health');
    leaving!.health = 503;
    const moved = await Promise.race(held);
    expect([moved.status, ((await moved.json()) as { from: string }).from]).toEqual([200, other!.url]);
    await gone;
    await until(() => gateway.replicas()[1]!.state === 'unhealthy');
    expect([gateway.inFlight, gateway.metrics.retries]).toEqual([1, 1]);
    sendJson(leaving!.seen[0]!.response, 200, { from: leaving!.url });
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200]);
  });
});

describe('bad requests', () => {
  it.each([
    ['not JSON', '{"model":', 400, 'not valid JSON'],
    ['not an object', '[1]', 400, 'JSON object'],
    ['no model', '{"messages":[]}', 400, "'model' is required"],
    ['a model that is no text', '{"model":5}', 400, "'model' is required"],
    ['an unknown model', '{"model":"other"}', 404, "No replica serves the model 'other'"],
  ])('with %s get an error', async (_, body, status, message) => {
    const [engine] = await engines(1);
    const gateway = await gatewayFor([engine!]);
    const answer = await post(gateway, body);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({
      error: { message: expect.stringContaining(message), type: 'invalid_request_error' },
    });
    expect(engine!.seen).toHaveLength(0);
  });

  it('that are too large are refused, announced or not', async () => {
    const [engine] = await engines(1);
    const gateway = await gatewayFor([engine!], {
      limits: { ...GATEWAY_DEFAULTS.limits, bodyBytes: 1000, headerBytes: 4096, decisions: 10 },
    });
    expect((await post(gateway, { ...CHAT, pad: 'x'.repeat(2000) })).status).toBe(413);
    const status = await new Promise<number>((resolve, reject) => {
      const call = httpRequest(`${gateway.url}/v1/chat/completions`, { method: 'POST' }, (response) => {
        resolve(response.statusCode!);
        response.resume();
      });
      call.on('error', reject);
      call.write('x'.repeat(700));
      call.write('x'.repeat(700));
    });
    expect(status).toBe(413);
    expect((await post(gateway, CHAT, { 'x-long': 'y'.repeat(8000) })).status).toBe(431);
    expect((await post(gateway, CHAT, { 'content-encoding': 'gzip' })).status).toBe(400);
  });

  it('to other paths and by other methods are refused', async () => {
    const [engine] = await engines(1);
    const gateway = await gatewayFor([engine!]);
    expect((await fetch(`${gateway.url}/v1/chat/completions`)).status).toBe(405);
    expect((await fetch(`${gateway.url}/v2/what`)).status).toBe(404);
    expect((await fetch(`${gateway.url}/v1/models`, { method: 'DELETE' })).status).toBe(405);
    expect(await (await fetch(`${gateway.url}/v1/models`)).json()).toMatchObject({ data: [{ id: 'm' }] });
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  });

  it('that are not HTTP end only their own connection', async () => {
    const [engine] = await engines(1);
    const gateway = await gatewayFor([engine!]);
    const { port } = new URL(gateway.url);
    const said = await new Promise<string>((resolve) => {
      let text = '';
      const socket = connect(Number(port), '127.0.0.1', () => socket.write('\x00\x01 nonsense\r\n\r\n'));
      socket.on('data', (piece) => {
        text += piece;
      });
      socket.on('close', () => resolve(text));
    });
    expect(said).toMatch(/^HTTP\/1\.1 400 /);
    expect((await post(gateway, CHAT)).status).toBe(200);
  });
});

describe('a fleet that changes', () => {
  it('lets a leaving replica finish its requests', async () => {
    const [stays, leaves] = await engines(2);
    const gateway = await gatewayFor([stays!, leaves!]);
    const held = (seen: { response: { end(text: string): void } }) => seen;
    leaves!.answer = held;
    stays!.answer = held;
    const calls = [post(gateway, CHAT), post(gateway, CHAT)];
    const last = await leaves!.got(1);
    const first = await stays!.got(1);
    gateway.fleet.remove(gateway.replicas()[1]!);
    last.response.end('{"late":true}');
    first.response.end('{}');
    expect(await Promise.all(calls.map(async (call) => (await call).status))).toEqual([200, 200]);
    stays!.answer = ({ response }) => sendJson(response, 200, {});
    for (let i = 0; i < 3; i++) await post(gateway, CHAT);
    expect(leaves!.seen).toHaveLength(1);
    expect(stays!.seen).toHaveLength(4);
  });

  it('applies another policy without losing a request', async () => {
    const [a, b] = await engines(2);
    const gateway = await gatewayFor([a!, b!]);
    a!.answer = () => {};
    const call = post(gateway, CHAT);
    const seen = await a!.got(1);
    const endpoint = gateway.endpoints.get('default')!;
    const config = gateway.config.endpoints[0]!;
    gateway.reload({
      ...gateway.config,
      endpoints: [{ ...config, policy: { ...config.policy, name: 'least-loaded' } }],
    });
    expect(endpoint.policy.name).toBe('least-loaded');
    expect(gateway.replicas().map((replica) => endpoint.inFlightOf(replica))).toEqual([1, 0]);
    expect((await post(gateway, CHAT)).headers.get('x-twinyard-replica')).toBe('r1');
    sendJson(seen.response, 200, {});
    expect((await call).status).toBe(200);
    expect(gateway.replicas().map((replica) => endpoint.inFlightOf(replica))).toEqual([0, 0]);
  });

  it('stops without aborting requests under way', async () => {
    const [engine] = await engines(1);
    const gateway = await startGateway([engine!]);
    engine!.answer = () => {};
    const call = post(gateway, CHAT);
    const seen = await engine!.got(1);
    const closed = gateway.close();
    expect(gateway.isDraining).toBe(true);
    sendJson(seen.response, 200, { done: true });
    expect(await (await call).json()).toEqual({ done: true });
    await closed;
  });
});
