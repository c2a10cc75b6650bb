import { describe, expect, test } from 'vitest';
import { DEFAULT_POLICY, type GatewayConfig } from '../src/gateway/config/gateway-config.js';
import { configFor, FakeEngine, type Seen, sendJson, until } from '../src/gateway/fake-engine.fixture.js';
import type { Gateway } from '../src/gateway/gateway.js';
import { ROUTING_POLICIES } from '../src/policy/registry.js';
import { afterwards, ask, expectIdle, gatewayOver } from './support/gateway-fixture.js';

const POLICIES = ROUTING_POLICIES.map(({ name }) => name);
const LEARNED = 16;
const AT_ONCE = 12;
/** Far from what requests take that do not hang, also on a busy machine. */
const FLOOR_MS = 60_000;
const streams = ({ response }: Seen) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end('data: 1\n\ndata: [DONE]\n\n');
};
const hangs = () => {};
const promptOf = (text: string, more: object = {}) =>
  JSON.stringify({ model: 'm', prompt: text, stream: true, ...more });

async function fleetOf(count: number, policy = 'round-robin', change: Partial<GatewayConfig> = {}) {
  const engines = await Promise.all(Array.from({ length: count }, () => FakeEngine.start()));
  for (const engine of engines) {
    afterwards(() => engine.kill());
    engine.answer = streams;
  }
  const { endpoints, timeouts } = configFor(engines);
  const warnings: string[] = [];
  const gateway = await gatewayOver(engines, {
    endpoints: endpoints.map((endpoint) => ({ ...endpoint, policy: { ...DEFAULT_POLICY, name: policy } })),
    timeouts: { ...timeouts, firstByteFloorMs: FLOOR_MS },
    ...change,
  });
  gateway.onWarning = (line) => warnings.push(line);
  return { engines, gateway, warnings };
}

/** Lets it learn how long first bytes take. */
async function learn(gateway: Gateway, body = promptOf('hello'), count = LEARNED): Promise<void> {
  for (let i = 0; i < count; i++) await (await ask(gateway, body)).text();
}

/** Applies the time-outs as if this much time had passed, reviews being as frequent as they are. */
function afterMs(gateway: Gateway, ms: number): void {
  const nowUs = gateway.clock.nowUs() + ms * 1000;
  for (let i = 0; i < 2; i++) gateway.traffic.review(nowUs, 250);
}

const busiest = (engines: readonly FakeEngine[]) =>
  engines.reduce((most, engine) => (engine.seen.length > most.seen.length ? engine : most));
const suspectsOf = (gateway: Gateway) =>
  gateway.replicas().filter((replica) => gateway.endpoints.get('default')!.suspicionOf(replica) !== '');

describe('a replica that takes requests and gives nothing back', () => {
  test.each(POLICIES)('loses nothing under %s: its requests are tried elsewhere', async (policy) => {
    const { engines, gateway, warnings } = await fleetOf(4, policy);
    await learn(gateway);
    const hung = busiest(engines);
    const before = hung.seen.length;
    hung.answer = hangs;
    const calls = Array.from({ length: AT_ONCE }, (_, i) => ask(gateway, promptOf(`hello ${i}`)));
    await until(() => hung.seen.length > before && gateway.inFlight === hung.seen.length - before);
    const held = gateway.inFlight;
    afterMs(gateway, FLOOR_MS / 3);
    expect([suspectsOf(gateway), gateway.inFlight]).toEqual([[], held]);
    afterMs(gateway, 1.2 * FLOOR_MS);
    expect(suspectsOf(gateway).map(({ url }) => url)).toEqual([hung.url]);
    for (const call of calls) expect(await (await call).text()).toBe('data: 1\n\ndata: [DONE]\n\n');
    for (let i = 0; i < AT_ONCE; i++) await (await ask(gateway, promptOf(`later ${i}`))).text();
    expect(hung.seen.length - before).toBe(held);
    expect(gateway.metrics.outcomes.get('ok')).toBe(LEARNED + 2 * AT_ONCE);
    expect(warnings).toEqual([
      expect.stringMatching(/^replica r\d of endpoint default is suspect: no first byte for \d/),
    ]);
    expectIdle(gateway);
  });

  test('is named with the reason by explain, the API and the metrics, and not blocked by its breaker', async () => {
    const { engines, gateway } = await fleetOf(2);
    await learn(gateway);
    engines[0]!.answer = hangs;
    const call = ask(gateway, promptOf('one'), { headers: { 'x-request-id': 'moved' } });
    await engines[0]!.got(LEARNED / 2 + 1);
    afterMs(gateway, 1.2 * FLOOR_MS);
    await (await call).text();
    await (await ask(gateway, promptOf('two'), { headers: { 'x-request-id': 'spared' } })).text();
    const headers = { authorization: `Bearer ${gateway.adminToken}` };
    const read = async (path: string) => (await fetch(`${gateway.adminUrl}${path}`, { headers })).text();
    const { items } = JSON.parse(await read('/api/v1/replicas'));
    const reason = expect.stringMatching(/^suspect: no first byte for \d+\.\d s, \d+ ms expected$/);
    expect(items).toMatchObject([
      { id: 'r0', suspect: reason, breaker: 'closed', state: 'ready' },
      { id: 'r1', suspect: '', breaker: 'closed' },
    ]);
    expect(JSON.parse(await read('/api/v1/decisions/spared'))).toMatchObject({
      replicas: [{ id: 'r0', removed: reason }, { id: 'r1' }],
    });
    const metrics = await read('/metrics');
    expect(metrics).toContain('twinyard_replica_suspect{replica="r0"} 1\ntwinyard_replica_suspect{replica="r1"} 0\n');
    expect(metrics).toContain('twinyard_replica_first_byte_timeouts_total{replica="r0"} 1\n');
  });

  test('keeps its requests while all replicas are slow alike: nothing is retried', async () => {
    const { engines, gateway } = await fleetOf(3);
    await learn(gateway);
    for (const engine of engines) engine.answer = hangs;
    const calls = Array.from({ length: AT_ONCE }, (_, i) => ask(gateway, promptOf(`slow ${i}`)));
    await until(() => engines.reduce((sum, { seen }) => sum + seen.length, 0) === LEARNED + AT_ONCE);
    for (const ms of [1.2 * FLOOR_MS, 2 * FLOOR_MS, 250_000]) afterMs(gateway, ms);
    expect([gateway.metrics.retries, suspectsOf(gateway)]).toEqual([0, []]);
    for (const engine of engines) for (const seen of engine.seen) if (!seen.response.writableEnded) streams(seen);
    for (const call of calls) await (await call).text();
    expectIdle(gateway);
  });

  test('keeps requests that are not streamed for as long as such requests take', async () => {
    const { engines, gateway } = await fleetOf(2);
    await learn(gateway);
    const whole = promptOf('whole', { stream: false });
    engines[0]!.answer = hangs;
    engines[1]!.answer = ({ response }) => sendJson(response, 200, { choices: [] });
    const long = ask(gateway, whole);
    await engines[0]!.got(LEARNED / 2 + 1);
    await (await ask(gateway, whole)).text();
    for (const ms of [1.2 * FLOOR_MS, 2 * FLOOR_MS, 250_000]) afterMs(gateway, ms);
    expect([gateway.metrics.retries, suspectsOf(gateway)]).toEqual([0, []]);
    sendJson(engines[0]!.seen.at(-1)!.response, 200, { choices: [], late: true });
    expect(await (await long).json()).toEqual({ choices: [], late: true });
  });

  test('loses nothing when the retry budget is used up: each request may leave it once', async () => {
    const retries = { most: 2, backoffMs: 0, budget: 0 };
    const { engines, gateway } = await fleetOf(2, 'round-robin', { retries });
    await learn(gateway);
    engines[0]!.answer = hangs;
    const calls = Array.from({ length: 80 }, (_, i) => ask(gateway, promptOf(`many ${i}`)));
    await engines[0]!.got(LEARNED / 2 + 40);
    await until(() => gateway.inFlight === 40);
    afterMs(gateway, 1.2 * FLOOR_MS);
    for (const call of calls) expect((await call).status).toBe(200);
    expect(gateway.metrics.retries).toBe(40);
  });

  test('keeps its requests where the floor of the time-out is its ceiling', async () => {
    const { timeouts } = configFor([]);
    const { engines, gateway } = await fleetOf(2, 'round-robin', {
      timeouts: { ...timeouts, firstByteFloorMs: timeouts.firstByteMs },
    });
    await learn(gateway);
    engines[0]!.answer = hangs;
    const call = ask(gateway, promptOf('one'));
    await engines[0]!.got(LEARNED / 2 + 1);
    afterMs(gateway, timeouts.firstByteMs - 1000);
    expect([gateway.inFlight, suspectsOf(gateway)]).toEqual([1, []]);
    streams(engines[0]!.seen.at(-1)!);
    await (await call).text();
  });
});
