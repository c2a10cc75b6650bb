import { Agent, request as httpRequest } from 'node:http';
import { describe, expect, test } from 'vitest';
import { GATEWAY_DEFAULTS } from '../src/gateway/config/gateway-config.js';
import { FakeEngine, sendJson, until } from '../src/gateway/fake-engine.fixture.js';
import { afterwards, ask, expectIdle, gatewayOver, PROMPT } from './support/gateway-fixture.js';

async function fake(): Promise<FakeEngine> {
  const engine = await FakeEngine.start();
  afterwards(() => engine.kill());
  return engine;
}

const NO_RETRY = { most: 0, backoffMs: 0, budget: 0 };

describe('time', () => {
  test('a half-open breaker admits exactly one of many requests', async () => {
    const engine = await fake();
    const gateway = await gatewayOver([engine], {
      breaker: { failures: 1, share: 1, windowMs: 0, openMs: 0 },
      retries: NO_RETRY,
    });
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

  test('a half-open breaker admits another probe when the last one was cancelled or timed out', async () => {
    const engine = await fake();
    const gateway = await gatewayOver([engine], {
      breaker: { failures: 1, share: 1, windowMs: 0, openMs: 0 },
      retries: NO_RETRY,
    });
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

  test('after all replicas restarted, the first passing health check admits a request', async () => {
    const engines = [await fake(), await fake()];
    const gateway = await gatewayOver(engines, {
      breaker: { failures: 1, share: 1, windowMs: 0, openMs: 60_000 },
      retries: { most: 1, backoffMs: 0, budget: 1 },
    });
    await Promise.all(engines.map((engine) => engine.kill()));
    expect((await ask(gateway)).status).toBe(502);
    expect(gateway.replicas().every(({ breaker }) => breaker.isOpen)).toBe(true);
    await Promise.all(engines.map((engine) => engine.listen(Number(new URL(engine.url).port))));
    expect((await ask(gateway)).status).toBe(503);
    await gateway.fleet.check();
    // Both are probed, one request each.
    expect([(await ask(gateway)).status, (await ask(gateway)).status]).toEqual([200, 200]);
    expect(gateway.replicas().some(({ breaker }) => breaker.isOpen)).toBe(false);
    expectIdle(gateway);
  });

  test('a probe that streams admits other requests from its first event on', async () => {
    const engine = await fake();
    const gateway = await gatewayOver([engine], {
      breaker: { failures: 1, share: 1, windowMs: 0, openMs: 0 },
      retries: NO_RETRY,
    });
    engine.answer = ({ request }) => request.socket.destroy();
    expect((await ask(gateway)).status).toBe(502);
    engine.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
    };
    const probe = await ask(gateway);
    await until(() => !gateway.replicas()[0]!.breaker.isOpen);
    engine.seen[1]!.response.end('data: 2\n\n');
    expect(await probe.text()).toBe('data: 1\n\ndata: 2\n\n');
    expectIdle(gateway);
  });

  test('a stream that stops for too long ends with an error event', async () => {
    const engine = await fake();
    const gateway = await gatewayOver([engine], {
      timeouts: { ...GATEWAY_DEFAULTS.timeouts, connectMs: 60_000, firstByteMs: 60_000, idleMs: 1, totalMs: 60_000 },
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
    const engine = await fake();
    const gateway = await gatewayOver([engine], {
      timeouts: { ...GATEWAY_DEFAULTS.timeouts, connectMs: 60_000, firstByteMs: 60_000, idleMs: 1, totalMs: 60_000 },
    });
    let looks = 0;
    engine.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
    };
    const answer = ask(gateway);
    await until(() => gateway.underWay()[0]?.record.status === 200);
    // Checked often enough that an idle stream would have timed out.
    const exchange = gateway.underWay()[0]!;
    while (looks++ < 10) exchange.check(gateway.nowMs(), 250, gateway.config.timeouts);
    engine.seen[0]!.response.end('data: late\n\n');
    expect(await (await answer).text()).toBe('data: late\n\n');
    engine.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
    };
    const silent = ask(gateway);
    await until(() => gateway.underWay()[0]?.record.status === 200);
    const waiting = gateway.underWay()[0]!;
    for (let i = 0; i < 3; i++) waiting.check(gateway.nowMs(), 250, { ...gateway.config.timeouts, firstByteMs: 500 });
    const late = await silent;
    expect([late.status, await late.text()]).toEqual([504, expect.stringMatching(/no first byte in time/)]);
    expectIdle(gateway);
  });

  test('a slow client is not the replica’s fault', async () => {
    const engine = await fake();
    const gateway = await gatewayOver([engine], {
      timeouts: { ...GATEWAY_DEFAULTS.timeouts, connectMs: 60_000, firstByteMs: 60_000, idleMs: 1000, totalMs: 60_000 },
    });
    const total = 32 * 1024 * 1024;
    engine.answer = ({ response }) => {
      response.setHeader('content-type', 'application/octet-stream');
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
    const engine = await fake();
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

  test('reloaded timeouts apply to the next request', async () => {
    const engine = await fake();
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
  test('reports that it is not ready, accepts nothing new, and finishes its requests', async () => {
    const engine = await fake();
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

  test('does not wait for connections that were kept alive by an earlier response', async () => {
    const engine = await fake();
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

  test('aborts requests at the deadline, each with its error', async () => {
    const engine = await fake();
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
