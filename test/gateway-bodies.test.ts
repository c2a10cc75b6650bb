import { describe, expect, test } from 'vitest';
import { GATEWAY_DEFAULTS } from '../src/gateway/config/gateway-config.js';
import { FakeEngine, until } from '../src/gateway/fake-engine.fixture.js';
import { newKey } from '../src/store/keys/new-key.fixture.js';
import { afterwards, expectIdle, gatewayOver, RawClient } from './support/gateway-fixture.js';

async function fake(): Promise<FakeEngine> {
  const engine = await FakeEngine.start();
  afterwards(() => engine.kill());
  return engine;
}

const MIB = 1024 * 1024;
const post = (url: string, body: string) =>
  fetch(`${url}/v1/completions`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });

describe('bodies', () => {
  test.each([
    ['nested too deeply', '['],
    ['of too many objects', '{},'],
    ['that is not JSON', '1 '],
  ])('one %s is refused before it has arrived', async (_, unit) => {
    const gateway = await gatewayOver([await fake()]);
    const head = `POST /v1/completions HTTP/1.1\r\nhost: h\r\ncontent-length: ${15 * MIB}\r\n\r\n`;
    const begun = `{"model":"m","prompt":[${unit.repeat(110_000)}`;
    const client = new RawClient(gateway.url).send(head + begun);
    expect(await client.until(/\r\n\r\n\{.*\}/)).toMatch(/^HTTP\/1\.1 400 /);
    client.socket.destroy();
    expectIdle(gateway);
  });

  test('a long one is passed on unchanged, and its stream reports usage', async () => {
    const engine = await fake();
    const gateway = await gatewayOver([engine]);
    const prompt = 'a line of text\n'.repeat(150_000);
    const body = JSON.stringify({ model: 'm', prompt, max_tokens: 3 });
    expect((await post(gateway.url, body)).status).toBe(200);
    expect(engine.seen[0]!.body === body).toBe(true);
    const streamed = JSON.stringify({ model: 'm', prompt, stream: true });
    expect((await post(gateway.url, streamed)).status).toBe(200);
    const { stream_options, ...rest } = JSON.parse(engine.seen[1]!.body);
    expect(stream_options).toEqual({ include_usage: true });
    expect(JSON.stringify(rest) === streamed).toBe(true);
  });

  test('a client that leaves while its long prompt is read leaves nothing behind', async () => {
    const engine = await fake();
    const gateway = await gatewayOver([engine]);
    const body = JSON.stringify({ model: 'm', prompt: 'a '.repeat(4 * MIB) });
    const client = new RawClient(gateway.url).send(
      `POST /v1/completions HTTP/1.1\r\nhost: h\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    client.socket.destroy();
    expect((await post(gateway.url, '{"model":"m","prompt":"x"}')).status).toBe(200);
    expectIdle(gateway);
  });

  test.each(['{"model":"m","model":"n","prompt":"x"}', '{"model":"m","Model":"n","prompt":"x"}'])(
    'one that names its model twice is refused: %s',
    async (body) => {
      const engine = await fake();
      const gateway = await gatewayOver([engine]);
      const response = await post(gateway.url, body);
      expect([response.status, ((await response.json()) as { error: { param: string } }).error.param]).toEqual([
        400,
        'model',
      ]);
      expect(engine.seen).toHaveLength(0);
    },
  );

  test('those of requests under way have a budget: what exceeds it gets 503, until one has ended', async () => {
    const engine = await fake();
    const limits = { ...GATEWAY_DEFAULTS.limits, inflightBytes: 100_000 };
    const gateway = await gatewayOver([engine], { limits });
    const body = JSON.stringify({ model: 'm', prompt: 'x'.repeat(60_000) });
    const head = `POST /v1/completions HTTP/1.1\r\nhost: h\r\ncontent-length: ${body.length}\r\n\r\n`;
    const slow = new RawClient(gateway.url).send(head + body.slice(0, 50_000));
    await until(() => gateway.traffic.bodies.bytes === 50_000);
    const refused = await post(gateway.url, body);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(gateway.traffic.bodies.bytes).toBe(50_000);
    slow.send(body.slice(50_000));
    expect(await slow.until(/\{.*\}/)).toMatch(/^HTTP\/1\.1 200 /);
    await until(() => gateway.inFlight === 0);
    expect(gateway.traffic.bodies.bytes).toBe(0);
    expect((await post(gateway.url, body)).status).toBe(200);
  });

  test('that of a client that leaves before it is complete is freed', async () => {
    const gateway = await gatewayOver([await fake()]);
    const head = 'POST /v1/completions HTTP/1.1\r\nhost: h\r\ncontent-length: 9000\r\n\r\n{"model":"m"';
    const client = new RawClient(gateway.url).send(head);
    await until(() => gateway.traffic.bodies.bytes > 0);
    client.socket.destroy();
    await until(() => gateway.traffic.bodies.bytes === 0);
  });
});

describe('the body of a request with a key', () => {
  const config = () => ({ store: ':memory:', access: { ...GATEWAY_DEFAULTS.access, keys: 'required' as const } });
  const headOf = (secret: string, length: number, more = '') =>
    `POST /v1/completions HTTP/1.1\r\nhost: h\r\nauthorization: Bearer ${secret}\r\ncontent-length: ${length}\r\n${more}\r\n`;
  const SMALL = '{"model":"m","prompt":"x"}';

  test('is not read when the key is at a limit for all models: 429 comes before its first byte', async () => {
    const engine = await fake();
    const gateway = await gatewayOver([engine], config());
    const limits = { '*': { requests_per_minute: 1 }, other: { tokens_per_day: 5 } };
    const { id, secret } = await newKey(gateway.store!, 'app', { limits });
    const client = new RawClient(gateway.url).send(headOf(secret, SMALL.length) + SMALL);
    expect(await client.until(/\r\n0\r\n\r\n$/)).toMatch(/^HTTP\/1\.1 200 /);
    client.text = '';
    client.send(headOf(secret, 16 * MIB, 'x-request-id: early\r\n'));
    const refused = await client.until(/\r\n\r\n\{.*\}/);
    expect(refused).toMatch(/^HTTP\/1\.1 429 [\s\S]*retry-after: \d+\r\n[\s\S]*requests per minute \(all models\)/);
    const explained = gateway.traffic.refusals.find('early');
    expect(explained).toMatchObject({
      key: id,
      by: 'over a limit',
      limit: { name: 'requests_per_minute', scope: '*' },
    });
    // A client that sends the body nevertheless: it is dropped unseen, and the connection goes on.
    client.text = '';
    client.send('['.repeat(16 * MIB)).send(headOf(secret, SMALL.length) + SMALL);
    expect(await client.until(/\r\n\r\n\{.*\}/)).toMatch(/^HTTP\/1\.1 429 /);
    expect([engine.seen.length, gateway.traffic.bodies.bytes]).toEqual([1, 0]);
    const waiting = new RawClient(gateway.url).send(headOf(secret, 16 * MIB, 'expect: 100-continue\r\n'));
    expect(await waiting.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 429 /);
    expectIdle(gateway);
  });

  test('is read when it has to be: for a limit of its model, and of its tokens', async () => {
    const gateway = await gatewayOver([await fake()], config());
    const limits = { '*': { tokens_per_day: 50 }, m: { requests_per_minute: 1 } };
    const { secret } = await newKey(gateway.store!, 'app', { limits });
    const body = JSON.stringify({ model: 'm', prompt: 'x'.repeat(1000) });
    const client = new RawClient(gateway.url).send(headOf(secret, body.length) + body.slice(0, 500));
    await until(() => gateway.traffic.bodies.bytes === 500);
    client.send(body.slice(500));
    expect(await client.until(/\}/)).toMatch(/^HTTP\/1\.1 429 [\s\S]*request_too_large_for_limit/);
    expectIdle(gateway);
  });

  test('has a limit of its own: 413 before it is read, or when its model is known', async () => {
    const engine = await fake();
    const gateway = await gatewayOver([engine], config());
    const limits = { '*': { body_bytes: 5000 }, m: { body_bytes: 2000 } };
    const { secret } = await newKey(gateway.store!, 'app', { limits });
    const client = new RawClient(gateway.url).send(headOf(secret, 5001));
    expect(await client.until(/\}/)).toMatch(/^HTTP\/1\.1 413 [\s\S]*larger than 5000 bytes/);
    const sent = async (bytes: number, model: string) => {
      const empty = JSON.stringify({ model, prompt: '' });
      const prompt = 'x'.repeat(bytes - empty.length);
      const headers = { authorization: `Bearer ${secret}` };
      const body = JSON.stringify({ model, prompt });
      return (await fetch(`${gateway.url}/v1/completions`, { method: 'POST', headers, body })).status;
    };
    expect([await sent(2000, 'm'), await sent(2001, 'm'), await sent(5001, 'm')]).toEqual([200, 413, 413]);
    // Another model has the limit for all of them: this one is unknown here.
    expect([await sent(5000, 'other'), await sent(5001, 'other')]).toEqual([404, 413]);
    const chunked = new RawClient(gateway.url).send(
      `POST /v1/completions HTTP/1.1\r\nhost: h\r\nauthorization: Bearer ${secret}\r\ntransfer-encoding: chunked\r\n\r\n1393\r\n{"model":"${'x'.repeat(5001)}`,
    );
    expect(await chunked.until(/\}/)).toMatch(/^HTTP\/1\.1 413 /);
    expectIdle(gateway);
  });
});
