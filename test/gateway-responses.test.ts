import { describe, expect, test } from 'vitest';
import { FakeEngine, sendJson, until } from '../src/gateway/fake-engine.fixture.js';
import { afterwards, ask, expectIdle, gatewayOver, PROMPT, plain, RawReplica } from './support/gateway-fixture.js';

async function fake(): Promise<FakeEngine> {
  const engine = await FakeEngine.start();
  afterwards(() => engine.kill());
  return engine;
}

describe('what replicas do', () => {
  test('responses of every form arrive', async () => {
    const replica = await RawReplica.start();
    const gateway = await gatewayOver([replica]);
    const answered = async (text: string) => {
      replica.response = ({ socket }) => void socket.write(text);
      const answer = await ask(gateway);
      return [answer.status, await answer.text()];
    };
    expect(await answered('HTTP/1.1 204 No Content\r\n\r\n')).toEqual([204, '']);
    expect(await answered('HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n')).toEqual([201, '']);
    expect(
      await answered(`HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${plain('{"a":1}')}`),
    ).toEqual([200, '{"a":1}']);
    expect(
      await answered('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n2\r\n }\r\n0\r\nx-sum: 3\r\n\r\n'),
    ).toEqual([200, '{ }']);
    expect(await answered('HTTP/1.1 429 Slow Down\r\nretry-after: 9\r\ncontent-length: 2\r\n\r\n{}')).toEqual([
      429,
      '{}',
    ]);
    expect(replica.connections).toBeLessThanOrEqual(3);
    expectIdle(gateway);
  });

  test('a response that ends with its connection arrives as well', async () => {
    const replica = await RawReplica.start();
    const gateway = await gatewayOver([replica]);
    replica.response = ({ socket }) => void socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n["to the end"]');
    expect(await (await ask(gateway)).text()).toBe('["to the end"]');
    expect(await (await ask(gateway)).text()).toBe('["to the end"]');
    expectIdle(gateway);
  });

  test.each([
    ['no HTTP at all', 'nonsense\r\n\r\n'],
    ['an upgrade nobody asked for', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
    ['a wrong length', 'HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}'],
    ['headers without end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`],
  ])('%s is reported as a replica failure', async (_, text) => {
    const replica = await RawReplica.start();
    const gateway = await gatewayOver([replica]);
    replica.response = ({ socket }) => void socket.write(text);
    const answer = await ask(gateway);
    expect([answer.status, await answer.json()]).toMatchObject([502, { error: { code: 'upstream_error' } }]);
    expectIdle(gateway);
  });

  test('a replica may respond before it has read the body', async () => {
    const engine = await fake();
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

  test('a break between headers and body is retried on another replica', async () => {
    const [breaking, whole] = [await RawReplica.start(), await RawReplica.start()];
    breaking.response = ({ socket }) => {
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
    replica.response = ({ socket }) => void socket.write(`${head}${event}${usage}data: [DONE]\n\n`);
    const stripped = await ask(gateway, stream);
    expect([stripped.headers.get('content-length'), await stripped.text()]).toEqual([null, `${event}data: [DONE]\n\n`]);
    replica.response = ({ socket }) => void socket.write(`${head}${event}`, () => socket.destroy());
    expect(await (await ask(gateway, stream)).text()).toMatch(/"content":"x"[^\n]*\n\ndata: \{"error"/);
    expectIdle(gateway);
  });

  test('a break within a body of promised length cuts the connection', async () => {
    const replica = await RawReplica.start();
    const gateway = await gatewayOver([replica]);
    replica.response = ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{"a":', () => socket.destroy());
    };
    await expect(ask(gateway).then((answer) => answer.text())).rejects.toThrow();
    await until(() => gateway.inFlight === 0);
    expect(gateway.metrics.outcomes.get('upstream_error')).toBe(1);
    expectIdle(gateway);
  });

  test('connections are reused, and after one was aborted others are', async () => {
    const replica = await RawReplica.start();
    const gateway = await gatewayOver([replica]);
    for (let i = 0; i < 5; i++) await (await ask(gateway)).text();
    const used = () => new Set(replica.seen.map(({ socket }) => socket)).size;
    expect(used()).toBe(1);
    replica.response = () => {};
    const leave = new AbortController();
    const gone = ask(gateway, PROMPT, { signal: leave.signal }).catch(() => 'gone');
    await until(() => replica.seen.length === 6);
    const { socket } = replica.seen[5]!;
    const closed = new Promise((resolve) => socket.on('close', resolve));
    leave.abort();
    expect(await gone).toBe('gone');
    await closed;
    replica.response = ({ socket: next }) => void next.write(plain('{"fine":true}'));
    for (let i = 0; i < 3; i++) expect(await (await ask(gateway)).text()).toBe('{"fine":true}');
    expect(used()).toBe(2);
    expectIdle(gateway);
  });

  test('a replica that left is not tried again, and one that joins in time is', async () => {
    const [failing, other] = [await fake(), await fake()];
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
    const engine = await fake();
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
