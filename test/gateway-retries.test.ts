import { describe, expect, test } from 'vitest';
import { GATEWAY_DEFAULTS } from '../src/gateway/config/gateway-config.js';
import { FakeEngine, type Seen, sendJson, until } from '../src/gateway/fake-engine.fixture.js';
import { afterwards, ask, expectIdle, gatewayOver, plain, RawReplica } from './support/gateway-fixture.js';

const ONE_FAILURE = { failures: 1, share: 1, windowMs: 0, openMs: 60_000 };

async function fakes(count: number): Promise<FakeEngine[]> {
  const engines = await Promise.all(Array.from({ length: count }, () => FakeEngine.start()));
  for (const engine of engines) afterwards(() => engine.kill());
  return engines;
}

const promptOf = (text: string) => JSON.stringify({ model: 'm', prompt: text });
const fails = ({ response }: Seen) => sendJson(response, 500, { error: 'mine' });
const limits =
  (retryAfter?: string) =>
  ({ response }: Seen) => {
    if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
    sendJson(response, 429, { error: 'busy' });
  };
/** Sends the headers of a stream, as engines do before they read the prompt. */
const beginsStream = ({ response }: Seen) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
};
const streams = ({ response }: Seen) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end('data: 1\n\ndata: [DONE]\n\n');
};
const STREAM = JSON.stringify({ model: 'm', prompt: 'x', stream: true });
const seenBy = (engines: readonly FakeEngine[]) => engines.map(({ seen }) => seen.length);

describe('a replica that returns 500', () => {
  test('every other time is not noticed by 100 clients, with the default settings', async () => {
    const engines = await fakes(3);
    // Checks are patient: a busy machine makes no replica unhealthy.
    const gateway = await gatewayOver(engines, { health: { ...GATEWAY_DEFAULTS.health, timeoutMs: 60_000 } });
    const usual = engines[1]!.answer;
    engines[1]!.answer = (seen) => (engines[1]!.seen.length % 2 === 1 ? fails(seen) : usual(seen));
    for (let i = 0; i < 100; i++) expect((await ask(gateway, promptOf(`${i}`))).status).toBe(200);
    expect(gateway.metrics.retries).toBeGreaterThan(0);
    expectIdle(gateway);
  });

  test('is blocked by its breaker when others serve what it fails', async () => {
    const engines = await fakes(2);
    const gateway = await gatewayOver(engines, { breaker: { ...ONE_FAILURE, failures: 2 } });
    engines[0]!.answer = fails;
    for (let i = 0; i < 8; i++) expect((await ask(gateway, promptOf(`${i}`))).status).toBe(200);
    expect(gateway.replicas().map(({ breaker }) => breaker.isOpen)).toEqual([true, false]);
    expect(seenBy(engines)).toEqual([2, 8]);
    expect(gateway.metrics.replicas.breakerOpens.get('r0')).toBe(1);
  });
});

describe('a request that draws 500 from two replicas', () => {
  test('is passed on as it is, counts against no replica, and is not tried again', async () => {
    const engines = await fakes(3);
    const gateway = await gatewayOver(engines, { breaker: ONE_FAILURE });
    for (const engine of engines) engine.answer = fails;
    const first = await ask(gateway, promptOf('poison'));
    expect([first.status, await first.json()]).toEqual([500, { error: 'mine' }]);
    expect(seenBy(engines).sort()).toEqual([0, 1, 1]);
    for (let i = 0; i < 6; i++) expect((await ask(gateway, promptOf('poison'))).status).toBe(500);
    expect(engines.reduce((sum, { seen }) => sum + seen.length, 0)).toBe(8);
    expect(gateway.replicas().some(({ breaker }) => breaker.isOpen)).toBe(false);
    expectIdle(gateway);
  });

  test('is tried again once a replica has served it', async () => {
    const engines = await fakes(2);
    const gateway = await gatewayOver(engines, { breaker: { ...ONE_FAILURE, failures: 9 } });
    const [usual] = engines.map(({ answer }) => answer);
    for (const engine of engines) engine.answer = fails;
    expect((await ask(gateway)).status).toBe(500);
    for (const engine of engines) engine.answer = usual!;
    expect((await ask(gateway)).status).toBe(200);
    engines[0]!.answer = fails;
    for (let i = 0; i < 4; i++) expect((await ask(gateway)).status).toBe(200);
  });

  test('as a probe does not delay the next probe', async () => {
    const engines = await fakes(2);
    const gateway = await gatewayOver(engines, { breaker: ONE_FAILURE });
    const [replica] = gateway.replicas();
    for (const engine of engines) engine.answer = fails;
    replica!.breaker.failedBefore(gateway.nowMs());
    replica!.breaker.halfOpen();
    await ask(gateway, promptOf('one'));
    await ask(gateway, promptOf('two'));
    expect(gateway.replicas().map(({ breaker }) => breaker.isOpen)).toEqual([true, false]);
    expect(replica!.breaker.allows(gateway.nowMs())).toBe(true);
  });
});

describe('a replica that returns 429', () => {
  test('is left for another one, and its breaker counts nothing', async () => {
    const engines = await fakes(2);
    const gateway = await gatewayOver(engines, { breaker: ONE_FAILURE });
    engines[0]!.answer = limits();
    for (let i = 0; i < 4; i++) expect((await ask(gateway)).status).toBe(200);
    expect([engines[0]!.seen.length > 0, engines[1]!.seen.length]).toEqual([true, 4]);
    engines[1]!.answer = limits();
    const limited = await ask(gateway);
    expect([limited.status, await limited.json()]).toEqual([429, { error: 'busy' }]);
    expect(gateway.replicas().some(({ breaker }) => breaker.isOpen)).toBe(false);
    expectIdle(gateway);
  });

  test('gets no request until its retry-after is over', async () => {
    const engines = await fakes(2);
    const gateway = await gatewayOver(engines);
    const usual = engines[0]!.answer;
    engines[0]!.answer = limits('60');
    for (let i = 0; i < 4; i++) expect((await ask(gateway)).status).toBe(200);
    expect(seenBy(engines)).toEqual([1, 4]);
    const pauses = gateway.replicas().map(({ pausedUntilMs }) => pausedUntilMs - gateway.nowMs() > 30_000);
    expect(pauses).toEqual([true, false]);
    engines[0]!.answer = usual;
    gateway.replicas()[0]!.pausedUntilMs = gateway.nowMs();
    for (let i = 0; i < 2; i++) await ask(gateway);
    expect(seenBy(engines)).toEqual([2, 5]);
  });

  test('leaves the client with 429 and the time when it was the last one', async () => {
    const engines = await fakes(2);
    const gateway = await gatewayOver(engines);
    engines[0]!.answer = limits('60');
    engines[1]!.answer = limits('30');
    const passed = await ask(gateway);
    expect([passed.status, passed.headers.get('retry-after')]).toEqual([429, '30']);
    const limited = await ask(gateway);
    expect([limited.status, Number(limited.headers.get('retry-after'))]).toEqual([429, expect.closeTo(30, -1)]);
    expect(await limited.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
    expect(seenBy(engines)).toEqual([1, 1]);
    expectIdle(gateway);
  });
});

describe('a stream without an event yet', () => {
  /** A stream that the first of two replicas has begun. */
  async function begun() {
    const engines = await fakes(2);
    const gateway = await gatewayOver(engines);
    engines[0]!.answer = beginsStream;
    engines[1]!.answer = streams;
    const leave = new AbortController();
    const call = ask(gateway, STREAM, { signal: leave.signal });
    await until(() => gateway.underWay()[0]?.record.status === 200);
    const [exchange] = gateway.underWay();
    return { call, engines, exchange: exchange!, gateway, leave };
  }

  test('is tried elsewhere when its replica dies', async () => {
    const { call, engines, gateway } = await begun();
    await engines[0]!.kill();
    const answer = await call;
    expect([answer.status, answer.headers.get('x-twinyard-replica')]).toEqual([200, 'r1']);
    expect(await answer.text()).toBe('data: 1\n\ndata: [DONE]\n\n');
    expect(gateway.metrics.outcomes.get('ok')).toBe(1);
    expectIdle(gateway);
  });

  test('is tried elsewhere when its replica ends it', async () => {
    const { call, engines } = await begun();
    engines[0]!.seen[0]!.response.end();
    expect(await (await call).text()).toBe('data: 1\n\ndata: [DONE]\n\n');
  });

  test('is tried elsewhere when its first event takes too long, or its replica stops responding to checks', async () => {
    const late = await begun();
    const timeouts = { ...late.gateway.config.timeouts, firstByteMs: 500 };
    for (let i = 0; i < 3; i++) late.exchange.check(late.gateway.nowMs() * 1000, 250, timeouts);
    expect((await late.call).headers.get('x-twinyard-replica')).toBe('r1');
    const silent = await begun();
    silent.gateway.replicas()[0]!.unhealthy('UPSTREAM_HEADERS_TIMEOUT', 1);
    silent.exchange.check(silent.gateway.nowMs() * 1000, 250, silent.gateway.config.timeouts);
    expect((await silent.call).headers.get('x-twinyard-replica')).toBe('r1');
    expectIdle(silent.gateway);
  });

  test('is cancelled when its client leaves', async () => {
    const { call, engines, exchange, gateway, leave } = await begun();
    const closed = new Promise((resolve) => engines[0]!.seen[0]!.response.on('close', resolve));
    leave.abort();
    await call.catch(() => {});
    await closed;
    await until(() => gateway.inFlight === 0);
    expect([exchange.record.status, exchange.record.outcome]).toEqual([499, 'client_left']);
    expect(seenBy(engines)).toEqual([1, 0]);
    expectIdle(gateway);
  });

  test('begins with a comment, which keeps its client waiting', async () => {
    const { call, engines } = await begun();
    const { response } = engines[0]!.seen[0]!;
    response.write(': ping\n\n');
    const answer = await call;
    response.write('data: 2\n\n', () => response.socket!.destroy());
    expect(await answer.text()).toMatch(/^: ping\n\ndata: 2\n\ndata: \{"error"/);
  });

  test('leaves its client with 502 when no other replica is there', async () => {
    const [engine] = await fakes(1);
    const gateway = await gatewayOver([engine!]);
    engine!.answer = (seen) => {
      beginsStream(seen);
      seen.response.socket!.end();
    };
    const answer = await ask(gateway, STREAM);
    expect([answer.status, await answer.json()]).toMatchObject([502, { error: { code: 'upstream_error' } }]);
    expectIdle(gateway);
  });
});

describe('a response with 200', () => {
  const WHOLE = '{"whole":true}';
  const CHUNKED = 'transfer-encoding: chunked\r\n\r\n';
  const head = (type: string) => `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n`;

  test.each([
    ['without a body', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', 'its response has no body'],
    ['without a chunk', `${head('application/json')}${CHUNKED}0\r\n\r\n`, 'its response has no body'],
    ['of white space', `${head('application/json')}content-length: 3\r\n\r\n \r\n`, 'its response has no body'],
    ['of HTML', `${head('text/html; charset=utf-8')}content-length: 6\r\n\r\n<html>`, 'its response is not JSON'],
    ['of HTML in JSON’s name', `${head('application/json')}content-length: 3\r\n\r\n\n<p`, 'its response is not JSON'],
    ['of JSON in HTML’s name', `${head('text/html')}content-length: 2\r\n\r\n{}`, 'its response is not JSON'],
    ['of plain text', `${head('text/plain')}content-length: 4\r\n\r\nOops`, 'its response is not JSON'],
  ])('%s is an error of the replica, and tried elsewhere', async (_, text, problem) => {
    const [broken, whole] = [await RawReplica.start(), await RawReplica.start()];
    broken.response = ({ socket }) => void socket.write(text);
    const both = await gatewayOver([broken, whole]);
    expect((await ask(both)).headers.get('x-twinyard-replica')).toBe('r1');
    expect([broken.seen.length, whole.seen.length, both.metrics.outcomes.get('ok')]).toEqual([1, 1, 1]);
    const alone = await gatewayOver([broken], { breaker: ONE_FAILURE });
    const answer = await ask(alone);
    expect([answer.status, await answer.json()]).toMatchObject([
      502,
      { error: { message: `Replica r0 broke off: ${problem}.` } },
    ]);
    expect(alone.metrics.outcomes.get('upstream_error')).toBe(1);
    expect(alone.replicas()[0]!.breaker.isOpen).toBe(true);
    expectIdle(alone);
  });

  test.each([
    ['white space before JSON', `${head('application/json')}content-length: 4\r\n\r\n\r\n{}`, '\r\n{}'],
    ['a list', `${head('application/json')}content-length: 2\r\n\r\n[]`, '[]'],
    ['another JSON type', `${head('application/problem+json')}content-length: 2\r\n\r\n{}`, '{}'],
    ['a binary type', `${head('application/octet-stream')}content-length: 3\r\n\r\nabc`, 'abc'],
  ])('and %s is passed on', async (_, text, body) => {
    const replica = await RawReplica.start();
    replica.response = ({ socket }) => void socket.write(text);
    expect(await (await ask(await gatewayOver([replica]))).text()).toBe(body);
  });

  test('need not be JSON where the request is for sound or text', async () => {
    const [engine] = await fakes(1);
    const gateway = await gatewayOver([engine!]);
    engine!.answer = ({ response }) => response.setHeader('content-type', 'text/plain').end('Hello');
    const body = JSON.stringify({ model: 'm', input: 'Hello' });
    const answer = await fetch(`${gateway.url}/v1/audio/speech`, { method: 'POST', body });
    expect([answer.status, await answer.text()]).toEqual([200, 'Hello']);
  });

  test('whose white space has been passed on is cut when no JSON follows', async () => {
    const replica = await RawReplica.start();
    const gateway = await gatewayOver([replica]);
    replica.response = ({ socket }) => void socket.write(`${head('application/json')}${CHUNKED}1\r\n\n\r\n`);
    const answer = await ask(gateway);
    replica.seen[0]!.socket.write('1\r\n<\r\n0\r\n\r\n');
    await expect(answer.text()).rejects.toThrow();
    await until(() => gateway.inFlight === 0);
    expect(gateway.metrics.outcomes.get('upstream_error')).toBe(1);
    expectIdle(gateway);
  });

  test('that breaks off after its usage is known, before the client has received anything, is not mixed with the next', async () => {
    const [broken, whole] = [await RawReplica.start(), await RawReplica.start()];
    whole.response = ({ socket }) => void socket.write(plain(WHOLE));
    const gateway = await gatewayOver([broken, whole], { breaker: { ...ONE_FAILURE, failures: 1000 } });
    broken.response = ({ socket }) => {
      socket.end(`${head('application/json')}content-length: 9\r\n\r\n{"a":1}`);
    };
    for (let i = 0; i < 10; i++) {
      const text = await ask(gateway, promptOf(`${i}`)).then((answer) => answer.text().catch(() => 'cut'));
      expect(['cut', WHOLE]).toContain(text);
    }
    await until(() => gateway.inFlight === 0);
    expectIdle(gateway);
  });
});
