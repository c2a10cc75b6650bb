import { Agent, request as httpRequest } from 'node:http';
import { describe, expect, test } from 'vitest';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS } from '../src/gateway/gateway-config.js';
import { sendJson, ToyEngine, until } from '../src/gateway/toy-engine.contract.js';
import {
  afterwards,
  ask,
  expectIdle,
  gatewayOver,
  PROMPT,
  plain,
  postText,
  RawClient,
  RawReplica,
} from './support/gateway-fixture.js';

async function toy(): Promise<ToyEngine> {
  const engine = await ToyEngine.start();
  afterwards(() => engine.kill());
  return engine;
}

const NO_RETRY = { most: 0, backoffMs: 0, budget: 0 };

describe('what clients do', () => {
  test('methods: HEAD and OPTIONS are answered, and 405 says what is allowed', async () => {
    const gateway = await gatewayOver([await toy()]);
    const { url } = gateway;
    const head = await fetch(`${url}/health`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    for (const method of ['HEAD', 'GET', 'OPTIONS', 'PUT', 'DELETE', 'PATCH']) {
      const answer = await fetch(`${url}/v1/chat/completions`, { method });
      expect([answer.status, answer.headers.get('allow')], method).toEqual([405, 'POST']);
      await answer.text();
    }
    const models = await fetch(`${url}/v1/models`, { method: 'OPTIONS' });
    expect([models.status, models.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(
      await new RawClient(url).send('OPTIONS * HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n').closed(),
    ).toMatch(/^HTTP\/1\.1 404 /);
  });

  test('expect: 100-continue goes on at once, unless the body would be refused', async () => {
    const engine = await toy();
    const gateway = await gatewayOver([engine], {
      limits: { ...GATEWAY_DEFAULTS.limits, bodyBytes: 1000, headerBytes: 4096, decisions: 10 },
    });
    const head = (length: number) =>
      `POST /v1/completions HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-length: ${length}\r\n\r\n`;
    const client = new RawClient(gateway.url).send(head(PROMPT.length));
    expect(await client.until(/\r\n\r\n/)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    client.send(PROMPT);
    expect(await client.until(/\{.*\}/)).toMatch(/\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
    expect(engine.seen[0]!.request.headers.expect).toBeUndefined();
    expect(await new RawClient(gateway.url).send(head(1001)).closed()).toMatch(/^HTTP\/1\.1 413 /);
    const other = head(5).replace('100-continue', 'a-miracle').replace('host: h', 'host: h\r\nconnection: close');
    expect(await new RawClient(gateway.url).send(other).closed()).toMatch(/^HTTP\/1\.1 417 /);
  });

  test('a body that is too large gets its answer while it is still being sent', async () => {
    const gateway = await gatewayOver([await toy()], {
      limits: { ...GATEWAY_DEFAULTS.limits, bodyBytes: 100_000, headerBytes: 4096, decisions: 10 },
    });
    const client = new RawClient(gateway.url).send(
      `POST /v1/completions HTTP/1.1\r\nhost: h\r\ncontent-length: 190000\r\n\r\n${'x'.repeat(50_000)}`,
    );
    expect(await client.until(/\r\n\r\n\{.*\}/)).toMatch(/^HTTP\/1\.1 413 /);
    // The rest comes, is thrown away, and the connection is as good as before.
    client.send('x'.repeat(140_000) + postText(PROMPT));
    expect(await client.until(/HTTP\/1\.1 200/)).toMatch(/HTTP\/1\.1 200 OK/);
    const endless = new RawClient(gateway.url).send(
      'POST /v1/completions HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n',
    );
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
    const writing = setInterval(() => endless.send(chunk), 0);
    expect(await endless.closed()).toMatch(/^HTTP\/1\.1 413 /);
    clearInterval(writing);
    expectIdle(gateway);
  });

  test('very long URLs go through as they are, up to the limit', async () => {
    const engine = await toy();
    const gateway = await gatewayOver([engine], {
      limits: { ...GATEWAY_DEFAULTS.limits, bodyBytes: 10_000, headerBytes: 8192, decisions: 10 },
    });
    const path = `/v1/completions?q=${'%20a'.repeat(1500)}`;
    const client = new RawClient(gateway.url).send(postText(PROMPT, 'connection: close\r\n', path));
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 200 /);
    expect(engine.seen[0]!.request.url).toBe(path);
    const longer = new RawClient(gateway.url).send(postText(PROMPT, '', `${path}${'x'.repeat(4000)}`));
    expect(await longer.closed()).toMatch(/^HTTP\/1\.1 431 /);
    const nothing = new RawClient(gateway.url).send(`GET /${'y'.repeat(7000)} HTTP/1.1\r\nhost: h\r\n\r\n`);
    const answer = await nothing.until(/\r\n\r\n\{.*\}/);
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer.length).toBeLessThan(1000);
  });

  test('bodies come in pieces or with their length, and replicas always learn the length', async () => {
    const engine = await toy();
    const gateway = await gatewayOver([engine]);
    const chunked = [...PROMPT].map((letter) => `1\r\n${letter}\r\n`).join('');
    const client = new RawClient(gateway.url).send(
      `POST /v1/completions HTTP/1.1\r\nhost: h\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${chunked}0\r\nx-sum: 1\r\n\r\n`,
    );
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 200 /);
    const { body, request } = engine.seen[0]!;
    expect([body, request.headers['content-length'], request.headers['transfer-encoding']]).toEqual([
      PROMPT,
      String(PROMPT.length),
      undefined,
    ]);
  });

  test('HTTP/1.0 clients get whole answers', async () => {
    const engine = await toy();
    const gateway = await gatewayOver([engine]);
    engine.answer = ({ response }) => {
      response.write('{"in":');
      response.end('"pieces"}');
    };
    const old = postText(PROMPT).replace('HTTP/1.1', 'HTTP/1.0');
    const answer = await new RawClient(gateway.url).send(old).closed();
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toMatch(/\r\n\r\n\{"in":"pieces"\}$/);
  });

  test('requests sent ahead on one connection are answered in their order', async () => {
    const engine = await toy();
    const gateway = await gatewayOver([engine]);
    engine.answer = () => {};
    const client = new RawClient(gateway.url);
    for (const id of ['a', 'b', 'c']) client.send(postText(PROMPT, `x-request-id: ${id}\r\n`));
    await engine.got(3);
    const answers = [...engine.seen].reverse();
    for (const { request, response } of answers) sendJson(response, 200, { id: request.headers['x-request-id'] });
    const text = await client.until(/"id":"c"/);
    expect([...text.matchAll(/\{"id":"(.)"\}/g)].map((match) => match[1])).toEqual(['a', 'b', 'c']);
    await until(() => gateway.inFlight === 0);
    expectIdle(gateway);
  });

  test('a client that leaves takes all the requests it sent ahead with it', async () => {
    const engine = await toy();
    const gateway = await gatewayOver([engine]);
    engine.answer = () => {};
    const client = new RawClient(gateway.url).send(postText(PROMPT).repeat(20));
    await engine.got(20);
    const told = engine.seen.map(({ response }) => new Promise((resolve) => response.on('close', resolve)));
    client.socket.destroy();
    await Promise.all(told);
    await until(() => gateway.inFlight === 0);
    expectIdle(gateway);
    expect(gateway.metrics.outcomes.get('client_left')).toBe(20);
  });

  test('an id that is in flight already is nobody else’s business', async () => {
    const engine = await toy();
    const gateway = await gatewayOver([engine]);
    engine.answer = () => {};
    const init = { headers: { 'x-request-id': 'same' } };
    const calls = [ask(gateway, PROMPT, init), ask(gateway, PROMPT, init)];
    await engine.got(2);
    expect(gateway.endpoints.get('default')!.inFlight).toBe(2);
    for (const { response } of engine.seen) sendJson(response, 200, {});
    expect((await Promise.all(calls)).map(({ headers }) => headers.get('x-request-id'))).toEqual(['same', 'same']);
    expectIdle(gateway);
    expect(gateway.ring.find('same')).toBeDefined();
  });

  test('bodies nested without end are refused, whoever would have to follow', async () => {
    const gateway = await gatewayOver([await toy()]);
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const chat = `{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[${deep}]}`;
    const path = `${gateway.url}/v1/chat/completions`;
    const refused = await fetch(path, { method: 'POST', body: chat });
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { message: expect.stringContaining('nested') } },
    ]);
    gateway.endpoints.get('default')!.setPolicy({ ...DEFAULT_POLICY, name: 'chwbl' });
    expect((await ask(gateway, `{"model":"m","prompt":"x","more":${deep}}`)).status).toBe(400);
    expect((await ask(gateway)).status).toBe(200);
    expectIdle(gateway);
    expect(gateway.metrics.faults).toBe(0);
  });
});

describe('a bug', () => {
  test('costs one request and is reported, wherever it is', async () => {
    const gateway = await gatewayOver([await toy()]);
    const heard: unknown[] = [];
    gateway.onFault = (error) => heard.push(error);
    const bug = new TypeError('a bug');
    const broken = () => {
      throw bug;
    };
    const endpoint = gateway.endpoints.get('default')!;
    const { place } = endpoint;
    endpoint.place = broken;
    const answer = await ask(gateway);
    expect([answer.status, await answer.json()]).toMatchObject([500, { error: { code: 'internal_error' } }]);
    endpoint.place = place;
    gateway.endpointFor = broken;
    expect((await ask(gateway)).status).toBe(500);
    expect([heard, gateway.metrics.faults]).toEqual([[bug, bug], 2]);
    expectIdle(gateway);
  });
});

describe('what replicas do', () => {
  test('answers of every form arrive', async () => {
    const replica = await RawReplica.start();
    const gateway = await gatewayOver([replica]);
    const answered = async (text: string) => {
      replica.answer = ({ socket }) => void socket.write(text);
      const answer = await ask(gateway);
      return [answer.status, await answer.text()];
    };
    expect(await answered('HTTP/1.1 204 No Content\r\n\r\n')).toEqual([204, '']);
    expect(await answered('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')).toEqual([200, '']);
    expect(
      await answered(`HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${plain('{"a":1}')}`),
    ).toEqual([200, '{"a":1}']);
    expect(
      await answered('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\nx-sum: 3\r\n\r\n'),
    ).toEqual([200, 'abc']);
    expect(await answered('HTTP/1.1 429 Slow Down\r\nretry-after: 9\r\ncontent-length: 2\r\n\r\n{}')).toEqual([
      429,
      '{}',
    ]);
    expect(replica.connections).toBeLessThanOrEqual(3);
    expectIdle(gateway);
  });

  test('an answer that ends with its connection arrives as well', async () => {
    const replica = await RawReplica.start();
    const gateway = await gatewayOver([replica]);
    replica.answer = ({ socket }) => void socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nto the end');
    expect(await (await ask(gateway)).text()).toBe('to the end');
    expect(await (await ask(gateway)).text()).toBe('to the end');
    expectIdle(gateway);
  });

  test.each([
    ['no HTTP at all', 'nonsense\r\n\r\n'],
    ['an upgrade nobody asked for', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
    ['a wrong length', 'HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}'],
    ['headers without end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`],
  ])('%s is told as a broken replica', async (_, text) => {
    const replica = await RawReplica.start();
    const gateway = await gatewayOver([replica]);
    replica.answer = ({ socket }) => void socket.write(text);
    const answer = await ask(gateway);
    expect([answer.status, await answer.json()]).toMatchObject([502, { error: { code: 'upstream_error' } }]);
    expectIdle(gateway);
  });

  test('one that answers before it has read the body is heard', async () => {
    const engine = await toy();
    const gateway = await gatewayOver([engine]);
    engine.early = (request, response) => {
      if (request.url !== '/v1/completions') return false;
      sendJson(response, 400, { error: 'I have seen enough' });
      request.resume();
      return true;
    };
    const big = JSON.stringify({ model: 'm', prompt: 'x'.repeat(4_000_000) });
    for (let i = 0; i < 3; i++) {
      const answer = await ask(gateway, big);
      expect([answer.status, await answer.json()]).toEqual([400, { error: 'I have seen enough' }]);
    }
    expectIdle(gateway);
    expect(gateway.replicas()[0]!.breaker.isOpen).toBe(false);
  });

  test('a break between headers and body is still an error to answer, and to try again elsewhere', async () => {
    const [breaking, whole] = [await RawReplica.start(), await RawReplica.start()];
    breaking.answer = ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n', () => socket.destroy());
    };
    const alone = await gatewayOver([breaking]);
    expect((await ask(alone)).status).toBe(502);
    const both = await gatewayOver([breaking, whole]);
    for (let i = 0; i < 4; i++) expect((await ask(both)).status).toBe(200);
    expect(whole.seen).toHaveLength(4);
    expectIdle(both);
  });

  test('a stream keeps no promise of a length, as the gateway may strip its usage or add an error', async () => {
    const replica = await RawReplica.start();
    const gateway = await gatewayOver([replica]);
    const event = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n';
    const usage = 'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}\n\n';
    const length = event.length + usage.length + 14;
    const head = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${length}\r\n\r\n`;
    const stream = '{"model":"m","prompt":"x","stream":true}';
    replica.answer = ({ socket }) => void socket.write(`${head}${event}${usage}data: [DONE]\n\n`);
    const stripped = await ask(gateway, stream);
    expect([stripped.headers.get('content-length'), await stripped.text()]).toEqual([null, `${event}data: [DONE]\n\n`]);
    replica.answer = ({ socket }) => void socket.write(`${head}${event}`, () => socket.destroy());
    expect(await (await ask(gateway, stream)).text()).toMatch(/"content":"x"[^\n]*\n\ndata: \{"error"/);
    expectIdle(gateway);
  });

  test('a break within a body of promised length cuts the connection', async () => {
    const replica = await RawReplica.start();
    const gateway = await gatewayOver([replica]);
    replica.answer = ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12345', () => socket.destroy());
    };
    await expect(ask(gateway).then((answer) => answer.text())).rejects.toThrow();
    await until(() => gateway.inFlight === 0);
    expect(gateway.metrics.outcomes.get('upstream_error')).toBe(1);
    expectIdle(gateway);
  });

  test('connections are used again, and after one was aborted others are', async () => {
    const replica = await RawReplica.start();
    const gateway = await gatewayOver([replica]);
    for (let i = 0; i < 5; i++) await (await ask(gateway)).text();
    const before = replica.connections;
    expect(before).toBeLessThanOrEqual(2);
    replica.answer = () => {};
    const leave = new AbortController();
    const gone = ask(gateway, PROMPT, { signal: leave.signal }).catch(() => 'gone');
    await until(() => replica.seen.length === 6);
    const { socket } = replica.seen[5]!;
    const closed = new Promise((resolve) => socket.on('close', resolve));
    leave.abort();
    expect(await gone).toBe('gone');
    await closed;
    replica.answer = ({ socket: next }) => void next.write(plain('{"fine":true}'));
    for (let i = 0; i < 3; i++) expect(await (await ask(gateway)).text()).toBe('{"fine":true}');
    expect(replica.connections).toBeLessThanOrEqual(before + 1);
    expectIdle(gateway);
  });

  test('a replica that left is not tried again, and one that comes in time is', async () => {
    const [failing, other] = [await toy(), await toy()];
    const gateway = await gatewayOver([failing, other], { retries: { most: 1, backoffMs: 1, budget: 1 } });
    failing.answer = ({ request }) => {
      gateway.fleet.remove(gateway.replicas()[0]!);
      request.socket.destroy();
    };
    expect((await ask(gateway)).status).toBe(200);
    expect(other.seen).toHaveLength(1);
    other.answer = ({ request }) => {
      gateway.fleet.remove(gateway.replicas()[0]!);
      request.socket.destroy();
    };
    expect((await ask(gateway)).status).toBe(502);
    const nobody = await ask(gateway);
    expect([nobody.status, await nobody.json()]).toMatchObject([404, { error: { code: 'model_not_found' } }]);
    expectIdle(gateway);
  });

  test('the reason of a decision is a legal header, whatever replicas are called', async () => {
    const engine = await toy();
    const gateway = await gatewayOver([], {});
    gateway.fleet.add(gateway.endpoints.get('default')!, {
      id: 'Röplica\r\n副本',
      url: engine.url,
      engine: 'vllm',
      models: ['m'],
    });
    await until(() => gateway.isReady);
    const answer = await ask(gateway);
    expect([answer.status, answer.headers.get('x-twinyard-replica')]).toEqual([200, 'R?plica????']);
    expect(answer.headers.get('x-twinyard-decision')).toMatch(/^round-robin: /);
  });
});

describe('time', () => {
  test('a half-open breaker lets exactly one of many through', async () => {
    const engine = await toy();
    const gateway = await gatewayOver([engine], { breaker: { failures: 1, openMs: 0 }, retries: NO_RETRY });
    engine.answer = ({ request }) => request.socket.destroy();
    expect((await ask(gateway)).status).toBe(502);
    engine.answer = () => {};
    const statuses: number[] = [];
    const calls = Array.from({ length: 10 }, async () => statuses.push((await ask(gateway)).status));
    await until(() => statuses.length === 9);
    expect([engine.seen.length, gateway.inFlight]).toEqual([2, 1]);
    sendJson(engine.seen[1]!.response, 200, {});
    await Promise.all(calls);
    expect(statuses).toEqual([...new Array(9).fill(503), 200]);
    engine.answer = ({ response: next }) => sendJson(next, 200, {});
    expect((await ask(gateway)).status).toBe(200);
  });

  test('a half-open breaker lets another one try when the one that tried left or ran out of time', async () => {
    const engine = await toy();
    const gateway = await gatewayOver([engine], { breaker: { failures: 1, openMs: 0 }, retries: NO_RETRY });
    engine.answer = ({ request }) => request.socket.destroy();
    expect((await ask(gateway)).status).toBe(502);
    engine.answer = () => {};
    const leave = new AbortController();
    const left = ask(gateway, PROMPT, { signal: leave.signal }).catch(() => 'left');
    await engine.got(2);
    leave.abort();
    expect(await left).toBe('left');
    await until(() => gateway.inFlight === 0);
    const late = ask(gateway);
    await engine.got(3);
    gateway.underWay()[0]!.timeOut();
    expect((await late).status).toBe(504);
    expect(gateway.replicas()[0]!.breaker.isOpen).toBe(true);
    engine.answer = ({ response }) => sendJson(response, 200, {});
    expect((await ask(gateway)).status).toBe(200);
    expect(gateway.replicas()[0]!.breaker.isOpen).toBe(false);
  });

  test('a stream that stops for too long ends with an error event', async () => {
    const engine = await toy();
    const gateway = await gatewayOver([engine], {
      timeouts: { ...GATEWAY_DEFAULTS.timeouts, connectMs: 1000, firstByteMs: 60_000, idleMs: 1, totalMs: 60_000 },
    });
    engine.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
    };
    expect(await (await ask(gateway)).text()).toMatch(
      /^data: 1\n\ndata: \{"error":\{.*no further byte in time.*\}\}\n\n$/,
    );
    expect(gateway.metrics.outcomes.get('timeout')).toBe(1);
    expectIdle(gateway);
  });

  test('a stream that has begun may take longer for its first event than between events', async () => {
    const engine = await toy();
    const gateway = await gatewayOver([engine], {
      timeouts: { ...GATEWAY_DEFAULTS.timeouts, connectMs: 1000, firstByteMs: 60_000, idleMs: 1, totalMs: 60_000 },
    });
    let looks = 0;
    engine.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
    };
    const answer = await ask(gateway);
    // Looked at often enough that an idle stream would have been given up.
    const exchange = gateway.underWay()[0]!;
    while (looks++ < 10) exchange.check(gateway.nowMs(), 250, gateway.config.timeouts);
    engine.seen[0]!.response.end('data: late\n\n');
    expect(await answer.text()).toBe('data: late\n\n');
    engine.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
    };
    const silent = await ask(gateway);
    const waiting = gateway.underWay()[0]!;
    for (let i = 0; i < 3; i++) waiting.check(gateway.nowMs(), 250, { ...gateway.config.timeouts, firstByteMs: 500 });
    expect(await silent.text()).toMatch(/no first byte in time/);
    expectIdle(gateway);
  });

  test('a slow client is not the replica’s fault', async () => {
    const engine = await toy();
    const gateway = await gatewayOver([engine], {
      timeouts: { ...GATEWAY_DEFAULTS.timeouts, connectMs: 1000, firstByteMs: 60_000, idleMs: 1000, totalMs: 60_000 },
    });
    const total = 32 * 1024 * 1024;
    engine.answer = ({ response }) => {
      let sent = 0;
      const more = () => {
        while (sent < total) {
          sent += 65_536;
          if (!response.write(Buffer.alloc(65_536, 'x'))) {
            response.once('drain', more);
            return;
          }
        }
        response.end();
      };
      more();
    };
    const length = await new Promise<number>((resolve, reject) => {
      const call = httpRequest(`${gateway.url}/v1/completions`, { method: 'POST' }, async (answer) => {
        answer.pause();
        const exchange = gateway.underWay()[0]!;
        await until(() => exchange.isHeld);
        for (let i = 0; i < 20; i++) exchange.check(gateway.nowMs(), 250, gateway.config.timeouts);
        let got = 0;
        answer.on('data', (piece) => {
          got += piece.length;
        });
        answer.on('end', () => resolve(got));
        answer.on('error', reject);
        answer.resume();
      });
      call.on('error', reject);
      call.end(PROMPT);
    });
    expect(length).toBe(total);
    expect(gateway.metrics.outcomes.get('ok')).toBe(1);
    expectIdle(gateway);
  });

  test('a replica that leaves is cut off when its time is up', async () => {
    const engine = await toy();
    const gateway = await gatewayOver([engine], { drainMs: 1 });
    engine.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
    };
    const answer = await ask(gateway);
    gateway.fleet.remove(gateway.replicas()[0]!);
    expect(await answer.text()).toMatch(/^data: 1\n\ndata: \{"error":.*\n\n$/);
    expectIdle(gateway);
  });

  test('time-outs that are reloaded hold for the next request', async () => {
    const engine = await toy();
    const gateway = await gatewayOver([engine], { retries: NO_RETRY });
    engine.answer = () => {};
    const held = ask(gateway);
    const { response } = await engine.got(1);
    const { timeouts } = gateway.config;
    gateway.reload({ ...gateway.config, timeouts: { ...timeouts, firstByteMs: 20 } });
    expect((await ask(gateway)).status).toBe(504);
    sendJson(response, 200, {});
    expect((await held).status).toBe(200);
    expectIdle(gateway);
  });
});

describe('draining', () => {
  test('says that it is not ready, takes nothing new, and finishes what it has', async () => {
    const engine = await toy();
    const gateway = await gatewayOver([engine]);
    engine.answer = () => {};
    const call = ask(gateway);
    const { response } = await engine.got(1);
    const { url } = gateway;
    const closed = gateway.close(60_000);
    const ready = await fetch(`${gateway.url}/ready`);
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'not ready' }]);
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
    const refused = await ask(gateway);
    expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('connection')]).toEqual([
      503,
      '1',
      'close',
    ]);
    sendJson(response, 200, { finished: true });
    expect(await (await call).json()).toEqual({ finished: true });
    await closed;
    await expect(fetch(url)).rejects.toThrow();
  });

  test('does not wait for connections that were kept alive by an answer from before', async () => {
    const engine = await toy();
    const gateway = await gatewayOver([engine]);
    const agent = new Agent({ keepAlive: true });
    afterwards(async () => agent.destroy());
    engine.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
    };
    let isClosed = false;
    await new Promise<void>((resolve, reject) => {
      const call = httpRequest(`${gateway.url}/v1/completions`, { method: 'POST', agent }, (answer) => {
        answer.once('data', () => {
          void gateway.close(60_000).then(() => {
            isClosed = true;
          });
          engine.seen[0]!.response.end('data: [DONE]\n\n');
          answer.on('end', resolve).resume();
        });
      });
      call.on('error', reject);
      call.end(PROMPT);
    });
    await until(() => isClosed);
  });

  test('ends what does not end in time, each with its error', async () => {
    const engine = await toy();
    const gateway = await gatewayOver([engine]);
    engine.answer = ({ body, response }) => {
      if (!body.includes('stream')) return;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
    };
    const whole = ask(gateway);
    const stream = await ask(gateway, '{"model":"m","prompt":"stream"}');
    await engine.got(2);
    await gateway.close(1);
    expect((await whole).status).toBe(504);
    expect(await stream.text()).toMatch(/^data: 1\n\ndata: \{"error"/);
    expectIdle(gateway);
  });
});
