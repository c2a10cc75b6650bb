import { describe, expect, test } from 'vitest';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS } from '../src/gateway/config/gateway-config.js';
import { FakeEngine, sendJson, until } from '../src/gateway/fake-engine.fixture.js';
import { afterwards, ask, expectIdle, gatewayOver, PROMPT, postText, RawClient } from './support/gateway-fixture.js';

async function fake(): Promise<FakeEngine> {
  const engine = await FakeEngine.start();
  afterwards(() => engine.kill());
  return engine;
}

describe('what clients do', () => {
  test('methods: HEAD and OPTIONS are served, and 405 lists what is allowed', async () => {
    const gateway = await gatewayOver([await fake()]);
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

  test('expect: 100-continue is accepted at once, unless the body would be refused', async () => {
    const engine = await fake();
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

  test('a body that is too large gets its response while it is still being sent', async () => {
    const gateway = await gatewayOver([await fake()], {
      limits: { ...GATEWAY_DEFAULTS.limits, bodyBytes: 100_000, headerBytes: 4096, decisions: 10 },
    });
    const client = new RawClient(gateway.url).send(
      `POST /v1/completions HTTP/1.1\r\nhost: h\r\ncontent-length: 190000\r\n\r\n${'x'.repeat(50_000)}`,
    );
    expect(await client.until(/\r\n\r\n\{.*\}/)).toMatch(/^HTTP\/1\.1 413 /);
    // The rest is discarded, and the connection stays usable.
    client.send('x'.repeat(140_000) + postText(PROMPT));
    expect(await client.until(/HTTP\/1\.1 200/)).toMatch(/HTTP\/1\.1 200 OK/);
    const endless = new RawClient(gateway.url).send(
      'POST /v1/completions HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n',
    );
    const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`;
    const writing = setInterval(() => endless.send(chunk), 0);
    expect(await endless.closed()).toMatch(/^HTTP\/1\.1 413 /);
    clearInterval(writing);
    expectIdle(gateway);
  });

  test('very long URLs are passed on unchanged, up to the limit', async () => {
    const engine = await fake();
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

  test('bodies are chunked or have a length, and replicas always get the length', async () => {
    const engine = await fake();
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

  test('HTTP/1.0 clients get whole responses', async () => {
    const engine = await fake();
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

  test('pipelined requests get their responses in order', async () => {
    const engine = await fake();
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

  test('a client that disconnects cancels all its pipelined requests', async () => {
    const engine = await fake();
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

  test('a request id that is already in flight may be used again', async () => {
    const engine = await fake();
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

  test('bodies that are nested too deeply are refused', async () => {
    const gateway = await gatewayOver([await fake()]);
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
    const gateway = await gatewayOver([await fake()]);
    const heard: unknown[] = [];
    gateway.onFault = (error) => heard.push(error);
    const bug = new TypeError('a bug');
    const broken = () => {
      throw bug;
    };
    const endpoint = gateway.endpoints.get('default')!;
    const { place } = endpoint.placer;
    endpoint.placer.place = broken;
    const answer = await ask(gateway);
    expect([answer.status, await answer.json()]).toMatchObject([500, { error: { code: 'internal_error' } }]);
    endpoint.placer.place = place;
    gateway.fleet.directory.find = broken;
    expect((await ask(gateway)).status).toBe(500);
    expect([heard, gateway.metrics.faults]).toEqual([[bug, bug], 2]);
    expectIdle(gateway);
  });
});
