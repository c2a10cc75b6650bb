import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { WallClock } from '../src/emulator/clock.js';
import type { RunningEngine } from '../src/emulator/start-engine.js';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS, type GatewayConfig } from '../src/gateway/config/gateway-config.js';
import type { Gateway } from '../src/gateway/gateway.js';
import { randomStream } from '../src/kernel/random-stream.js';
import { fakeEngine, until } from './support/engine-fixture.js';
import { expectIdle, gatewayOver } from './support/gateway-fixture.js';
import { anyChat, Clients, expectResponseed, isServed, type Leaving, load } from './support/gateway-load.js';

/** Short intervals for health checks and breakers, and long timeouts: a busy machine makes no replica unhealthy. */
const QUICK: Partial<GatewayConfig> = {
  health: { intervalMs: 20, timeoutMs: 60_000, failures: 1 },
  signals: { intervalMs: 20, staleMs: 5000 },
  timeouts: { ...GATEWAY_DEFAULTS.timeouts, connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 120_000 },
  breaker: { failures: 3, share: 1, windowMs: 0, openMs: 50 },
  retries: { most: 3, backoffMs: 1, budget: 1 },
  limits: { ...GATEWAY_DEFAULTS.limits, bodyBytes: 1_000_000, headerBytes: 16_384, decisions: 200 },
};

/** Also with responses that never complete. */
const IMPATIENT: Partial<GatewayConfig> = {
  health: { intervalMs: 20, timeoutMs: 2500, failures: 1 },
  timeouts: { ...QUICK.timeouts!, firstByteMs: 3000, idleMs: 3000 },
};

async function fleet(count: number, policy = 'weighted', change: Partial<GatewayConfig> = {}) {
  const engines = await Promise.all(Array.from({ length: count }, (_, seed) => fakeEngine({ seed })));
  const gateway = await gatewayOver(engines, { ...QUICK, ...change });
  gateway.endpoints.get('default')!.setPolicy({ ...DEFAULT_POLICY, name: policy });
  return { engines, gateway, clients: new Clients(gateway.url) };
}

/** Everything is released, here and in the engines. */
async function expectAllOver(gateway: Gateway, engines: readonly RunningEngine[]): Promise<void> {
  await until(() => gateway.inFlight === 0);
  expectIdle(gateway);
  await until(() => engines.every((engine) => engine.stats().running + engine.stats().waiting === 0));
  expect(gateway.ring.size).toBeLessThanOrEqual(200);
  expect(gateway.metrics.faults).toBe(0);
}

describe('a replica', () => {
  test('that is killed under load loses no response that had not begun', async () => {
    const { clients, engines, gateway } = await fleet(4);
    const random = randomStream(1, 'kill');
    let ended = 0;
    const all = await load(clients, random, { atOnce: 24, each: 8 }, () => {
      if (++ended === 60) void engines[0]!.close();
    });
    all.forEach(expectResponseed);
    // Streams that had begun there break; everything else is served by others.
    for (const one of all.filter((one) => !isServed(one))) expect(one).toMatchObject({ status: 200 });
    expect(all.filter(isServed).length).toBeGreaterThan(all.length * 0.8);
    await until(() => gateway.replicas()[0]!.state === 'unhealthy');
    const after = await load(clients, random, { atOnce: 8, each: 4 });
    expect(after.every(isServed)).toBe(true);
    await expectAllOver(gateway, engines.slice(1));
  });

  test('that hangs is avoided, and used again after it recovers', async () => {
    const { clients, engines, gateway } = await fleet(3, 'round-robin', IMPATIENT);
    const random = randomStream(2, 'hang');
    let ended = 0;
    const all = await load(clients, random, { atOnce: 15, each: 8 }, () => {
      if (++ended === 30) engines[1]!.faults({ frozen: true });
    });
    all.forEach(expectResponseed);
    expect(all.filter(isServed).length).toBeGreaterThan(all.length * 0.7);
    await until(() => gateway.replicas()[1]!.state === 'unhealthy');
    expectIdle(gateway);
    engines[1]!.faults({ frozen: false });
    const [, back] = gateway.replicas();
    await until(() => back!.state === 'ready' && back!.breaker.allows(gateway.nowMs()));
    await until(() => gateway.endpoints.get('default')!.suspicionOf(back!) === '');
    const before = engines[1]!.stats().tokensOut;
    const after = await load(clients, random, { atOnce: 6, each: 5 });
    expect(after.every(isServed)).toBe(true);
    expect(engines[1]!.stats().tokensOut).toBeGreaterThan(before);
    await expectAllOver(gateway, engines);
  });

  test('that resets connections in the middle of responses breaks streams with an error event', async () => {
    const { clients, engines, gateway } = await fleet(3, 'round-robin', {
      breaker: { failures: 1000, share: 1, windowMs: 0, openMs: 50 },
    });
    engines[0]!.faults({ disconnectRate: 1 });
    const all = await load(clients, randomStream(3, 'reset'), { atOnce: 15, each: 8 });
    all.forEach(expectResponseed);
    const broken = all.filter((one) => !isServed(one));
    expect(broken.length).toBeGreaterThan(5);
    for (const { status, text } of broken)
      expect([status, text.includes('"code":"upstream_error"')]).toEqual([200, true]);
    expect(gateway.metrics.retries).toBeGreaterThan(0);
    await expectAllOver(gateway, engines);
  });

  test('that is slow gets fewer requests, and no response is lost', async () => {
    const engines = await Promise.all(
      Array.from({ length: 3 }, (_, seed) => fakeEngine({ seed, clock: new WallClock(1) })),
    );
    engines[2]!.faults({ slowFactor: 600 });
    const gateway = await gatewayOver(engines, QUICK);
    gateway.endpoints.get('default')!.setPolicy({ ...DEFAULT_POLICY, name: 'least-loaded' });
    const clients = new Clients(gateway.url);
    const all = await load(clients, randomStream(4, 'slow'), { atOnce: 12, each: 8, mostTokens: 10 });
    expect(all.every(isServed)).toBe(true);
    const [fast, alsoFast, slow] = engines.map((engine) => engine.stats().promptTokens);
    expect(slow).toBeLessThan(Math.min(fast!, alsoFast!));
    await expectAllOver(gateway, engines);
  });

  test('that flaps loses no request that had not begun', async () => {
    const { clients, engines, gateway } = await fleet(3, 'weighted', IMPATIENT);
    const random = randomStream(5, 'flap');
    let ended = 0;
    const all = await load(clients, random, { atOnce: 12, each: 15 }, () => {
      if (++ended % 10 === 0) engines[0]!.faults({ failRate: 0, disconnectRate: 0, frozen: ended % 20 === 0 });
    });
    engines[0]!.faults({ frozen: false });
    all.forEach(expectResponseed);
    expect(all.filter(isServed).length).toBeGreaterThan(all.length * 0.7);
    await until(() => gateway.replicas().every(({ state }) => state === 'ready'));
    await expectAllOver(gateway, engines);
  });
});

describe('clients', () => {
  const LEAVING: readonly Leaving[] = ['at once', 'when sent', 'with the headers', 0, 1, 2, 3, 5, 8, null];

  test('300 that disconnect at random moments leave nothing behind', async () => {
    const { clients, engines, gateway } = await fleet(3);
    const random = randomStream(6, 'leave');
    const storm = () =>
      Promise.all(
        Array.from({ length: 300 }, () => clients.send(anyChat(random, 40), LEAVING[random.below(LEAVING.length)]!)),
      );
    const all = await storm();
    await expectAllOver(gateway, engines);
    for (const one of all.filter(({ hasLeft }) => !hasLeft)) expectResponseed(one);
    expect(all.filter(({ hasLeft }) => hasLeft).length).toBeGreaterThan(150);
    expect(gateway.metrics.outcomes.get('client_left')).toBeGreaterThan(50);
    expect(gateway.replicas().some(({ breaker }) => breaker.isOpen)).toBe(false);
    expect((await load(clients, random, { atOnce: 6, each: 3 })).every(isServed)).toBe(true);
  });

  test('in storms with faults leave no memory, no listener, no timer and no connection behind', async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on('warning', warned);
    const { clients, engines, gateway } = await fleet(3);
    const random = randomStream(7, 'storms');
    engines[0]!.faults({ disconnectRate: 0.2, failRate: 0.1 });
    engines[1]!.faults({ failRate: 0.2 });
    const storm = () =>
      Promise.all(
        Array.from({ length: 120 }, () => clients.send(anyChat(random, 24), LEAVING[random.below(LEAVING.length)]!)),
      );
    for (let i = 0; i < 3; i++) await storm();
    await expectAllOver(gateway, engines);
    const before = await heapUsed();
    for (let i = 0; i < 4; i++) await storm();
    await expectAllOver(gateway, engines);
    // 480 requests later: less than 4 kB each, which nothing that is kept of a request and its response would fit into.
    expect((await heapUsed()) - before).toBeLessThan(480 * 4096);

    await gateway.close(0);
    await Promise.all(engines.map((engine) => engine.close()));
    clients.close();
    const open = () => process.getActiveResourcesInfo().filter((kind) => /TCP|Timeout/.test(kind));
    await until(() => open().length === 0);
    process.off('warning', warned);
    expect(warnings).toEqual([]);
  });
});

/** The heap in use after a garbage collection. */
async function heapUsed(): Promise<number> {
  setFlagsFromString('--expose_gc');
  const collect = runInNewContext('gc') as () => void;
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  return process.memoryUsage().heapUsed;
}
