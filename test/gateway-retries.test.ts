import { describe, expect, test } from 'vitest';
import { FakeEngine, type Seen, sendJson } from '../src/gateway/fake-engine.fixture.js';
import { afterwards, ask, expectIdle, gatewayOver } from './support/gateway-fixture.js';

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
const seenBy = (engines: readonly FakeEngine[]) => engines.map(({ seen }) => seen.length);

describe('a replica that returns 500', () => {
  test('every other time is not noticed by 100 clients, with the default settings', async () => {
    const engines = await fakes(3);
    const gateway = await gatewayOver(engines);
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
