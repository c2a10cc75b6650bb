import { describe, expect, it } from 'vitest';
import { flowControlOf } from '../../policy/bundle/flow-control-schema.js';
import { DEFAULT_POLICY, type EndpointConfig, GATEWAY_DEFAULTS, type GatewayConfig } from '../config/gateway-config.js';
import { DecisionRing } from '../decisions/decision-ring.js';
import { type FakeEngine, until } from '../fake-engine.fixture.js';
import { FakeWaiting } from '../flow/fake-waiting.fixture.js';
import { fakeFacts } from '../request/fake-facts.fixture.js';
import { GatewayMetrics } from '../telemetry/gateway-metrics.js';
import { Fleet } from './fleet.js';
import { engineOf, opened } from './replica/opened-engines.fixture.js';

function endpointOf(
  name: string,
  engines: readonly FakeEngine[],
  change: Partial<EndpointConfig> = {},
): EndpointConfig {
  const replicas = engines.map(({ url }, i) => ({ id: `${name}-${i}`, url, engine: 'vllm', models: null }));
  return { name, policy: { ...DEFAULT_POLICY, name: 'round-robin' }, replicas, ...change };
}

const configOf = (...endpoints: EndpointConfig[]): GatewayConfig => ({
  ...GATEWAY_DEFAULTS,
  endpoints,
  slowStartMs: 0,
  drainMs: 60_000,
});

function fleetOf(config: GatewayConfig) {
  const metrics = new GatewayMetrics();
  const fleet = new Fleet({
    config,
    metrics,
    log: null,
    warn: () => {},
    ring: new DecisionRing(10),
    nowUs: () => 5000,
  });
  opened.push(() => fleet.close());
  return { fleet, metrics };
}

const FACTS = fakeFacts();

describe('Fleet', () => {
  it('finds the endpoint of a model', async () => {
    const { fleet } = fleetOf(
      configOf(endpointOf('a', [await engineOf('m')]), endpointOf('b', [await engineOf('m', 'n')])),
    );
    await fleet.check();
    expect(fleet.directory.find('m', null).name).toBe('a');
    expect(fleet.directory.find('n', null).name).toBe('b');
    expect(fleet.directory.find('m', 'b', 'default').name).toBe('b');
    expect(fleet.directory.models()).toEqual(['m', 'n']);
    const statusOf = (model: string, name: string | null) => {
      try {
        return fleet.directory.find(model, name, 'default');
      } catch (error) {
        return (error as { status: number; message: string }).message;
      }
    };
    expect(statusOf('x', null)).toMatch("No replica serves the model 'x'");
    expect(statusOf('n', 'a')).toMatch("No replica serves the model 'n'");
    expect(statusOf('m', 'c')).toBe("There is no endpoint 'c' here.");
  });

  it('does not report a model as unknown while a replica has not listed its models', async () => {
    const [well, ill] = [await engineOf('m'), await engineOf('n')];
    ill.health = 503;
    const { fleet } = fleetOf(configOf(endpointOf('a', [well, ill]), endpointOf('b', [])));
    await fleet.check();
    const denied = (model: string, name: string | null) => () => fleet.directory.find(model, name);
    expect(denied('n', null)).toThrowError(expect.objectContaining({ status: 503 }));
    expect(denied('n', 'b')).toThrowError(expect.objectContaining({ status: 404 }));
    ill.health = 200;
    await fleet.check();
    expect(fleet.directory.find('n', null).name).toBe('a');
  });

  it('counts scrapes that fail and signals that are missing, by replica, until it leaves', async () => {
    const [one, two, dead] = [await engineOf('m'), await engineOf('m'), await engineOf('m')];
    one.metrics = 'vllm:num_requests_running 1\n';
    two.pages.set('/metrics', { status: 500, text: '' });
    dead.health = 503;
    const { fleet, metrics } = fleetOf(configOf(endpointOf('a', [one, two, dead])));
    await fleet.check();
    await fleet.scrape();
    await fleet.scrape();
    expect(metrics.replicas.missingSignals).toEqual(
      new Map([['a-0', new Map(Object.entries({ waiting: 2, kvUsed: 2 }))]]),
    );
    expect(metrics.replicas.failedScrapes).toEqual(new Map([['a-1', 2]]));
    expect(fleet.directory.replicas().map(({ signals }) => signals?.running)).toEqual([1, undefined, undefined]);
    for (const replica of fleet.directory.replicas()) fleet.remove(replica);
    expect([metrics.replicas.missingSignals.size, metrics.replicas.failedScrapes.size]).toEqual([0, 0]);
  });

  it('lets a leaving replica finish its requests, then closes it', async () => {
    const { fleet } = fleetOf(configOf(endpointOf('a', [await engineOf('m'), await engineOf('m')])));
    await fleet.check();
    const endpoint = fleet.endpoints.get('a')!;
    const placement = endpoint.placer.place(FACTS, 0, [])!;
    fleet.remove(placement.replica);
    expect([fleet.leaving(), placement.replica.pool.destroyed]).toEqual([[placement.replica], false]);
    expect(endpoint.placer.place(FACTS, 0, [])!.replica).not.toBe(placement.replica);
    endpoint.placer.finish(endpoint.placer.place(FACTS, 0, [])!);
    expect(placement.replica.pool.destroyed).toBe(false);
    endpoint.placer.finish(placement);
    endpoint.placer.finish(placement);
    expect([fleet.leaving(), placement.replica.pool.destroyed]).toEqual([[], true]);
    expect([placement.replica.active, endpoint.inFlight]).toEqual([0, 1]);
  });

  it('does not wait forever for a leaving replica', async () => {
    const { fleet } = fleetOf({ ...configOf(endpointOf('a', [await engineOf('m')])), drainMs: 1 });
    await fleet.check();
    const { replica } = fleet.endpoints.get('a')!.placer.place(FACTS, 0, [])!;
    fleet.remove(replica);
    await until(() => replica.pool.destroyed);
    expect(fleet.leaving()).toEqual([]);
  });

  it('applies another configuration and keeps what is the same', async () => {
    const engines = [await engineOf('m'), await engineOf('m'), await engineOf('m')];
    const before = configOf(endpointOf('a', engines.slice(0, 2)), endpointOf('b', engines.slice(2)));
    const { fleet } = fleetOf(before);
    await fleet.check();
    const [kept, left, other] = fleet.directory.replicas();
    const endpoint = fleet.endpoints.get('a')!;
    endpoint.placer.place(FACTS, 0, []);
    const policy = { ...DEFAULT_POLICY, name: 'least-loaded' };
    const again = endpointOf('a', [engines[0]!], { policy });
    const after = configOf(again, endpointOf('c', [engines[1]!]));
    fleet.configure({ ...after, breaker: { failures: 1, share: 1, windowMs: 0, openMs: 1 } });
    expect([...fleet.endpoints.keys()]).toEqual(['a', 'c']);
    expect(fleet.endpoints.get('a')).toBe(endpoint);
    expect([endpoint.policy, endpoint.inFlight]).toEqual([policy, 1]);
    expect(endpoint.replicas).toEqual([kept]);
    expect(kept!.breaker.options).toEqual({ failures: 1, share: 1, windowMs: 0, openMs: 1 });
    expect([left!.state, other!.state, left!.pool.destroyed]).toEqual(['draining', 'draining', true]);
    expect(fleet.config).toEqual(after.endpoints);
    await until(() => fleet.directory.replicas().every(({ state }) => state === 'ready'));
  });

  it('treats a replica whose description changed as a new one', async () => {
    const engine = await engineOf('m');
    const config = configOf(endpointOf('a', [engine]));
    const { fleet } = fleetOf(config);
    const [before] = fleet.directory.replicas();
    const [endpoint] = config.endpoints;
    fleet.configure(configOf({ ...endpoint!, replicas: [{ ...endpoint!.replicas[0]!, models: ['x'] }] }));
    expect(fleet.directory.replicas()[0]).not.toBe(before);
    expect(fleet.directory.models()).toEqual(['x']);
  });

  it('does not apply a report of a former replica to a new one of the same name', async () => {
    const engine = await engineOf('m');
    const { fleet } = fleetOf(configOf(endpointOf('a', [engine])));
    const endpoint = fleet.endpoints.get('a')!;
    const [former] = fleet.directory.replicas();
    fleet.remove(former!);
    const again = fleet.add(endpoint, former!.config);
    endpoint.report(former!, {
      atUs: 1,
      running: 9,
      waiting: 9,
      kvUsed: 1,
      freeBlocks: 0,
      cacheHitRate: 0,
      missing: [],
    });
    await until(() => again.state === 'ready');
    endpoint.placer.finish(endpoint.placer.place(FACTS, 0, [])!);
    expect(again.signals).toBeNull();
  });

  it('is not held up by a replica that hangs', async () => {
    const [well, hung] = [await engineOf('m'), await engineOf('m')];
    const { fleet } = fleetOf(configOf(endpointOf('a', [well, hung])));
    await fleet.check();
    const asked = new Map<string, number>();
    hung.early = ({ url }) => {
      asked.set(url!, (asked.get(url!) ?? 0) + 1);
      return true;
    };
    void fleet.check();
    void fleet.scrape();
    const [replica] = fleet.directory.replicas();
    await until(() => replica!.signals?.running === 0 && asked.size === 2);
    well.metrics = 'vllm:num_requests_running 5\n';
    well.health = 503;
    void fleet.scrape();
    await until(() => replica!.signals?.running === 5);
    for (let failures = 1; failures <= 2; failures++) {
      void fleet.check();
      await until(() => replica!.healthFailures === failures);
    }
    expect([...asked.values()]).toEqual([1, 1]);
  });

  it('releases waiting requests when a replica becomes healthy or reports its load', async () => {
    const engine = await engineOf('m');
    engine.health = 503;
    const policy = { ...DEFAULT_POLICY, flowControl: flowControlOf({}, {}) };
    const { fleet } = fleetOf(configOf(endpointOf('a', [engine], { policy })));
    await fleet.check();
    const { flow } = fleet.endpoints.get('a')!;
    const waiting = new FakeWaiting();
    flow.enter(waiting);
    expect(waiting.heard).toEqual([]);
    engine.health = 200;
    await fleet.check();
    expect(waiting.heard).toEqual(['went after 0']);
    const [replica] = fleet.directory.replicas();
    replica!.breaker.options = { failures: 1, share: 1, windowMs: 0, openMs: 0 };
    replica!.breaker.failed(0, 0);
    replica!.breaker.placed(0);
    const other = new FakeWaiting();
    flow.enter(other);
    expect(other.heard).toEqual([]);
    replica!.breaker.released(0);
    await fleet.scrape();
    expect(other.heard).toEqual(['went after 0']);
  });

  it('fails waiting requests when the gateway shuts down', async () => {
    const policy = { ...DEFAULT_POLICY, flowControl: flowControlOf({}, {}) };
    const { fleet } = fleetOf(configOf(endpointOf('a', [await engineOf('m')], { policy })));
    const waiting = new FakeWaiting();
    fleet.endpoints.get('a')!.flow.enter(waiting);
    fleet.drain();
    expect([waiting.heard, waiting.error]).toMatchObject([['draining'], { status: 503 }]);
  });
});
