import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test, vi } from 'vitest';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS, type GatewayConfig } from '../src/gateway/config/gateway-config.js';
import { DecisionRing } from '../src/gateway/decisions/decision-ring.js';
import { Endpoint } from '../src/gateway/fleet/endpoint/endpoint.js';
import { LiveReplica } from '../src/gateway/fleet/replica/live-replica.js';
import { fakeFacts } from '../src/gateway/request/fake-facts.fixture.js';
import { GatewayMetrics } from '../src/gateway/telemetry/gateway-metrics.js';
import type { ClassOutcomes } from '../src/gateway/telemetry/shadow-figures.js';
import { randomStream } from '../src/kernel/random-stream.js';
import { ShadowBoard } from '../src/twin/shadow/shadow-board.js';
import { ManualClock } from '../src/twin/shadow/time/manual-clock.fixture.js';
import { fakeEngine, until } from './support/engine-fixture.js';
import { expectIdle, gatewayOver } from './support/gateway-fixture.js';
import { Clients, expectResponseed, isServed, load } from './support/gateway-load.js';

vi.setConfig({ testTimeout: 600_000 });

const NAMES = [
  'round-robin',
  'least-loaded',
  'lmetric',
  'unified',
  'weighted',
  'chwbl',
  'sticky',
  'sglang-cache-aware',
];
const SHADOWS = NAMES.map((policy) => ({ name: policy, policy, options: {} }));

const sum = (classes: readonly ClassOutcomes[]) =>
  classes.reduce((all, { different, forced, same, tied }) => all + different + forced + same + tied, 0);

/** A fleet under faults, with as many shadows as there may be. */
const QUICK: Partial<GatewayConfig> = {
  // A check that is late on a busy machine is no fault.
  health: { intervalMs: 20, timeoutMs: 20_000, failures: 1 },
  signals: { intervalMs: 20, staleMs: 5000 },
  timeouts: { ...GATEWAY_DEFAULTS.timeouts, connectMs: 20_000, firstByteMs: 20_000, idleMs: 20_000, totalMs: 50_000 },
  breaker: { failures: 3, share: 1, windowMs: 0, openMs: 50 },
  retries: { most: 3, backoffMs: 1, budget: 1 },
};

describe('a fleet with eight shadows', () => {
  test('loses nothing while replicas are killed and reset connections', async () => {
    const engines = await Promise.all(Array.from({ length: 4 }, (_, seed) => fakeEngine({ seed })));
    const gateway = await gatewayOver(engines, QUICK);
    await until(() => gateway.replicas().every(({ models, state }) => state === 'ready' && models.size > 0));
    const endpoint = gateway.endpoints.get('default')!;
    endpoint.setPolicy({ ...DEFAULT_POLICY, name: 'weighted', shadows: SHADOWS });
    const clients = new Clients(gateway.url);
    const random = randomStream(1, 'shadows under faults');
    let ended = 0;
    const all = await load(clients, random, { atOnce: 24, each: 20 }, () => {
      ended++;
      if (ended === 60) engines[1]!.faults({ disconnectRate: 0.5 });
      if (ended === 150) engines[1]!.faults({ disconnectRate: 0 });
      if (ended === 200) void engines[0]!.close();
    });
    all.forEach(expectResponseed);
    // Streams that had begun on a replica that fails break; everything else is served by others.
    for (const one of all.filter((one) => !isServed(one))) expect(one, one.text).toMatchObject({ status: 200 });
    await until(() => gateway.inFlight === 0);
    expectIdle(gateway);
    expect(gateway.metrics.faults).toBe(0);
    const figures = () => gateway.fleet.shadows!.of(endpoint);
    expect(figures()).toHaveLength(8);
    // Shadows decide after the requests, many at a time.
    await until(() => figures().every((one) => sum(one.onRealPlacements) + one.dropped >= all.length));
    for (const one of figures()) expect(sum(one.onOwnPlacements)).toBe(sum(one.onRealPlacements));
  });
});

describe('a soak of 200,000 requests', () => {
  test('leaves the memory of shadows as it was', () => {
    let nowUs = 0;
    const clock = new ManualClock();
    const fault = (error: unknown) => {
      throw error;
    };
    const shadows = new ShadowBoard({ seed: 42, nowUs: () => nowUs, fault, clock });
    const { signals, timeouts } = GATEWAY_DEFAULTS;
    const host = {
      config: { seed: 42, signals, slowStartMs: 0, timeouts, waitMs: 0 },
      ...{ metrics: new GatewayMetrics(), ring: new DecisionRing(1000), log: null, shadows },
      ...{ warn: () => {}, nowUs: () => nowUs },
    };
    const endpoint = new Endpoint('chat', { ...DEFAULT_POLICY, cacheBlocks: 1000, shadows: SHADOWS }, host);
    const replicas = Array.from(
      { length: 8 },
      (_, i) =>
        new LiveReplica({ id: `r${i}`, url: 'http://127.0.0.1:1', engine: 'vllm', models: ['m'] }, GATEWAY_DEFAULTS),
    );
    for (const replica of replicas) replica.healthy(0);
    endpoint.setReplicas(replicas);
    const random = randomStream(7, 'soak');
    const open: (() => void)[] = [];
    const send = (i: number) => {
      nowUs += 1000;
      const body = { prompt: `chat ${random.below(500)} `.repeat(40), messages: [{ role: 'user', content: `${i}` }] };
      const facts = fakeFacts({ id: `q${i}`, session: `s${random.below(50_000)}`, sloClass: `c${i % 1000}`, body });
      const placed = endpoint.placer.place(facts, 0, [])!;
      open.push(() => {
        endpoint.placer.firstToken(placed, true);
        endpoint.placer.finish(placed);
      });
      if (open.length > 64) open.splice(random.below(open.length), 1)[0]!();
      if (i % 10 === 0) clock.settle();
    };
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const heapAfter = (count: number, from: number) => {
      for (let i = from; i < count; i++) send(i);
      collect();
      return process.memoryUsage().heapUsed / 1e6;
    };
    const half = heapAfter(100_000, 0);
    const all = heapAfter(200_000, 100_000);
    expect(all - half).toBeLessThan(20);
    for (const { dropped, onRealPlacements } of shadows.of(endpoint)) {
      expect(onRealPlacements.length).toBeLessThanOrEqual(17);
      expect(sum(onRealPlacements) + dropped).toBeGreaterThan(199_000);
    }
  });
});
