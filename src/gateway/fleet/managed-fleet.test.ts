import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS, type GatewayConfig } from '../config/gateway-config.js';
import { DecisionRing } from '../decisions/decision-ring.js';
import { until } from '../fake-engine.fixture.js';
import { fakeFacts } from '../request/fake-facts.fixture.js';
import { GatewayMetrics } from '../telemetry/gateway-metrics.js';
import { Fleet } from './fleet.js';
import { managedEndpoint, managedReplica, upstream } from './managed.fixture.js';
import { ManagedFleet } from './managed-fleet.js';
import { engineOf, opened } from './replica/opened-engines.fixture.js';

function fleetOf(change: Partial<GatewayConfig> = {}) {
  const config = { ...GATEWAY_DEFAULTS, slowStartMs: 0, ...change };
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
  return { config, fleet, metrics, routes: new ManagedFleet(fleet, () => 5) };
}

const FACTS = fakeFacts();
const NOWHERE = 'http://127.0.0.1:1';

describe('ManagedFleet', () => {
  it('creates an endpoint whose replicas take requests at once', async () => {
    const { fleet, routes } = fleetOf();
    const engine = await engineOf('m');
    routes.put(managedEndpoint([managedReplica('a', engine.url)]));
    const endpoint = fleet.directory.find('m', 'chat', 'ws');
    expect([endpoint.name, endpoint.placer.place(FACTS, 0, [])?.replica.id]).toEqual(['ws/chat', 'a']);
    expect(routes.states('ws', 'chat')).toEqual([{ id: 'a', state: 'ready', problem: '', inFlight: 1 }]);
    expect(routes.states('ws', 'other')).toEqual([]);
  });

  it('checks a new replica at once, at its own path, and learns its models if they are not given', async () => {
    const { routes } = fleetOf();
    const engine = await engineOf('n');
    engine.health = 503;
    engine.pages.set('/alive', { status: 200, text: '' });
    routes.put(managedEndpoint([managedReplica('a', engine.url, { models: null, healthPath: '/alive' })]));
    expect(routes.states('ws', 'chat')[0]!.state).toBe('starting');
    await until(() => routes.states('ws', 'chat')[0]!.state === 'ready');
  });

  it('changes nothing when the same is put again', async () => {
    const { fleet, routes } = fleetOf();
    const engine = await engineOf('m');
    const given = managedEndpoint([managedReplica('a', engine.url), managedReplica('b', engine.url)]);
    routes.put(given);
    const endpoint = fleet.directory.find('m', 'chat', 'ws');
    const { policyHash, replicas } = endpoint;
    const placement = endpoint.placer.place(FACTS, 0, [])!;
    routes.put(structuredClone(given));
    expect(fleet.directory.find('m', 'chat', 'ws')).toBe(endpoint);
    expect(endpoint.replicas).toBe(replicas);
    expect([endpoint.policyHash, endpoint.inFlight, endpoint.history().length]).toEqual([policyHash, 1, 1]);
    endpoint.placer.finish(placement);
  });

  it('swaps the policy and keeps what is under way', async () => {
    const { fleet, routes } = fleetOf();
    const given = managedEndpoint([managedReplica('a', NOWHERE)]);
    routes.put(given);
    const endpoint = fleet.directory.find('m', 'chat', 'ws');
    const placement = endpoint.placer.place(FACTS, 0, [])!;
    routes.put({ ...given, policy: { ...DEFAULT_POLICY, name: 'least-loaded' } });
    expect([endpoint.policy.name, endpoint.inFlight, endpoint.inFlightOf(placement.replica)]).toEqual([
      'least-loaded',
      1,
      1,
    ]);
    endpoint.placer.finish(placement);
  });

  it('removes replicas that are not listed any more: they get no request, and finish theirs', async () => {
    const { fleet, routes } = fleetOf({ drainMs: 0 });
    const [a, b] = [managedReplica('a', NOWHERE), managedReplica('b', NOWHERE)];
    routes.put(managedEndpoint([a, b]));
    const endpoint = fleet.directory.find('m', 'chat', 'ws');
    const placements = [endpoint.placer.place(FACTS, 0, [])!, endpoint.placer.place(FACTS, 0, [])!];
    const last = placements.find(({ replica }) => replica.id === 'a')!;
    routes.put(managedEndpoint([b]));
    for (let i = 0; i < 4; i++) expect(endpoint.placer.place(FACTS, 0, [])!.replica.id).toBe('b');
    expect(endpoint.hasOther('m', [], endpoint.replicas[0]!)).toBe(false);
    expect(routes.states('ws', 'chat')).toMatchObject([
      { id: 'b', state: 'ready', inFlight: 5 },
      { id: 'a', state: 'draining', inFlight: 1 },
    ]);
    const drained = routes.drained('ws', 'chat', 'a', 1e6);
    expect(last.replica.pool.destroyed).toBe(false);
    endpoint.placer.finish(last);
    expect(await drained).toBe(true);
    expect(last.replica.pool.destroyed).toBe(true);
    expect(routes.states('ws', 'chat').map(({ id }) => id)).toEqual(['b']);
  });

  it('reports how a drain went: replica unknown, idle, or over its deadline', async () => {
    const { fleet, routes } = fleetOf();
    expect(await routes.drained('ws', 'chat', 'a', 0)).toBe(true);
    routes.put(managedEndpoint([managedReplica('a', NOWHERE)]));
    expect(await routes.drained('ws', 'chat', 'a', 0)).toBe(true);
    const endpoint = fleet.directory.find('m', 'chat', 'ws');
    const { replica } = endpoint.placer.place(FACTS, 0, [])!;
    expect(await routes.drained('ws', 'chat', 'a', 1)).toBe(false);
    expect(replica.pool.destroyed).toBe(false);
    routes.put(managedEndpoint([]));
    expect(await routes.drained('ws', 'chat', 'a', 1)).toBe(false);
    expect([replica.pool.destroyed, fleet.leaving()]).toEqual([true, []]);
  });

  it('treats a replica at another address as a new one, even with the same id', async () => {
    const { fleet, routes } = fleetOf();
    routes.put(managedEndpoint([managedReplica('a', NOWHERE)]));
    const endpoint = fleet.directory.find('m', 'chat', 'ws');
    const placement = endpoint.placer.place(FACTS, 0, [])!;
    routes.put(managedEndpoint([managedReplica('a', 'http://127.0.0.1:2')]));
    expect(endpoint.replicas[0]).not.toBe(placement.replica);
    expect(routes.states('ws', 'chat').map(({ state }) => state)).toEqual(['ready', 'draining']);
    const drained = routes.drained('ws', 'chat', 'a', 1e6);
    endpoint.placer.finish(placement);
    expect(await drained).toBe(true);
  });

  it('removes an endpoint, whose requests finish, and creates it again', async () => {
    const { fleet, routes } = fleetOf({ drainMs: 0 });
    routes.put(managedEndpoint([managedReplica('a', NOWHERE)]));
    const endpoint = fleet.directory.find('m', 'chat', 'ws');
    const placement = endpoint.placer.place(FACTS, 0, [])!;
    routes.remove('ws', 'chat');
    routes.remove('ws', 'chat');
    expect(() => fleet.directory.find('m', 'chat', 'ws')).toThrowError(expect.objectContaining({ status: 404 }));
    expect(routes.states('ws', 'chat')).toMatchObject([{ id: 'a', state: 'draining' }]);
    routes.put(managedEndpoint([managedReplica('b', NOWHERE)]));
    expect(fleet.directory.find('m', 'chat', 'ws')).not.toBe(endpoint);
    const drained = routes.drained('ws', 'chat', 'a', 1e6);
    endpoint.placer.finish(placement);
    expect(await drained).toBe(true);
  });

  it('changes credential, weight, tier and models of an upstream without another connection', async () => {
    const { fleet, routes } = fleetOf();
    const engine = await engineOf('m');
    routes.put(managedEndpoint([upstream('u', engine.url)]));
    const endpoint = fleet.directory.find('m', 'chat', 'ws');
    const [replica] = endpoint.replicas;
    await until(() => replica!.state === 'ready');
    routes.put(managedEndpoint([upstream('u', engine.url, { weight: 3, tier: 2, credential: 'x' }, ['m', 'n'])]));
    expect(endpoint.replicas).toEqual([replica]);
    expect([replica!.weight, replica!.tier, [...replica!.models]]).toEqual([3, 2, ['m', 'n']]);
    routes.put(managedEndpoint([upstream('u', engine.url, { firstByteMs: 5 })]));
    expect(endpoint.replicas).not.toEqual([replica]);
  });

  it('is as full as the tier in use', async () => {
    const { fleet, routes } = fleetOf();
    const engine = await engineOf('m');
    routes.put(managedEndpoint([upstream('u', engine.url, { tier: 1 }), upstream('v', engine.url)]));
    const endpoint = fleet.directory.find('m', 'chat', 'ws');
    await until(() => endpoint.replicas.every(({ state }) => state === 'ready'));
    expect([...endpoint.look.saturationView(5000).eligible.slice(0, 2)]).toEqual([0, 1]);
    endpoint.replicas[1]!.unhealthy('gone', 1);
    expect([...endpoint.look.saturationView(5000).eligible.slice(0, 2)]).toEqual([1, 0]);
  });

  it('checks a healthy upstream no more often than needed', async () => {
    const { fleet, routes } = fleetOf();
    const engine = await engineOf('m');
    routes.put(managedEndpoint([upstream('u', engine.url)]));
    const [replica] = fleet.directory.replicas();
    await until(() => replica!.state === 'ready');
    engine.pages.set('/v1/models', { status: 500, text: '' });
    await fleet.check();
    expect(replica!.healthFailures).toBe(0);
    replica!.checkedMs = -30_000;
    await fleet.check();
    await fleet.check();
    expect([replica!.healthFailures, replica!.state]).toEqual([2, 'unhealthy']);
  });

  it('refuses names that are taken, too many replicas and unknown engines, and changes nothing', () => {
    const policy = { ...DEFAULT_POLICY, name: 'round-robin' };
    const configured = [{ name: 'ws/other', policy, replicas: [managedReplica('mine', NOWHERE)] }];
    const { fleet, routes } = fleetOf({ endpoints: configured });
    routes.put(managedEndpoint([managedReplica('a', NOWHERE)]));
    const refused = (change: Parameters<typeof managedEndpoint>[1], ...ids: string[]) => {
      const given = managedEndpoint(
        ids.map((id) => managedReplica(id, NOWHERE)),
        change,
      );
      return () => routes.put(given);
    };
    expect(refused({ name: 'other' }, 'b')).toThrowError(expect.objectContaining({ code: 'ENDPOINT_TAKEN' }));
    expect(refused({}, 'b', 'mine')).toThrowError(expect.objectContaining({ code: 'REPLICA_TAKEN' }));
    expect(refused({}, 'b', 'b')).toThrowError(expect.objectContaining({ code: 'REPLICA_TAKEN' }));
    expect(refused({ name: 'x' }, 'a')).toThrowError(expect.objectContaining({ code: 'REPLICA_TAKEN' }));
    const many = Array.from({ length: 1025 }, (_, i) => `r${i}`);
    expect(refused({}, ...many)).toThrowError(expect.objectContaining({ code: 'TOO_MANY_REPLICAS' }));
    const strange = managedEndpoint([managedReplica('b', NOWHERE, { engine: 'x' })]);
    expect(() => routes.put(strange)).toThrowError(expect.objectContaining({ code: 'ENGINE_UNKNOWN' }));
    const wrong = { policy: { ...policy, name: 'wighted' } };
    expect(refused(wrong, 'b')).toThrowError(expect.objectContaining({ problem: expect.stringContaining('wighted') }));
    expect(refused({ ...wrong, name: 'x' }, 'b')).toThrowError();
    expect([...fleet.endpoints.keys()]).toEqual(['ws/other', 'ws/chat']);
    expect(routes.states('ws', 'chat').map(({ id }) => id)).toEqual(['a']);
  });
});

describe('managed endpoints and the configuration', () => {
  it('are independent: a reload changes neither managed endpoints nor their state', async () => {
    const policy = { ...DEFAULT_POLICY, name: 'round-robin' };
    const file = (name: string) => ({ name, policy, replicas: [managedReplica(`file-${name}`, NOWHERE)] });
    const { config, fleet, routes } = fleetOf({ endpoints: [file('a')] });
    routes.put(managedEndpoint([managedReplica('b', NOWHERE), upstream('u', NOWHERE, { credential: 'secret' })]));
    const endpoint = fleet.directory.find('m', 'chat', 'ws');
    const [before] = endpoint.replicas;
    fleet.configure({ ...config, endpoints: [file('z')], breaker: { failures: 9, share: 1, windowMs: 0, openMs: 1 } });
    expect([...fleet.endpoints.keys()]).toEqual(['z', 'ws/chat']);
    expect([endpoint.replicas[0] === before, before!.breaker.options.failures]).toEqual([true, 9]);
    expect(fleet.config.map(({ name }) => name)).toEqual(['z']);
    const taken = (changed: GatewayConfig['endpoints']) => () => fleet.configure({ ...config, endpoints: changed });
    expect(taken([file('ws/chat')])).toThrowError(expect.objectContaining({ code: 'ENDPOINT_TAKEN' }));
    expect(taken([{ ...file('y'), replicas: [managedReplica('b', NOWHERE)] }])).toThrowError(
      expect.objectContaining({ code: 'REPLICA_TAKEN' }),
    );
    expect([...fleet.endpoints.keys()]).toEqual(['z', 'ws/chat']);
  });

  it('are found by path and, in a fixed order, by model: ready ones first', () => {
    const policy = { ...DEFAULT_POLICY, name: 'round-robin' };
    const file = { name: 'chat', policy, replicas: [managedReplica('file', NOWHERE, { models: ['m', 'f'] })] };
    const { fleet, routes } = fleetOf({ endpoints: [file] });
    const put = (workspace: string, name: string, id: string | null) =>
      routes.put(managedEndpoint(id === null ? [] : [managedReplica(id, NOWHERE)], { workspace, name, models: ['m'] }));
    put('b', 'chat', 'r1');
    put('a-b', 'x', 'r2');
    put('a', 'y', null);
    put('a', 'x', 'r3');
    expect([...fleet.endpoints.keys()]).toEqual(['chat', 'a/x', 'a/y', 'a-b/x', 'b/chat']);
    // The replica of the file has not been found ready yet.
    expect(fleet.directory.find('m', null).name).toBe('a/x');
    fleet.endpoints.get('chat')!.replicas[0]!.healthy(0);
    expect(fleet.directory.find('m', null).name).toBe('chat');
    expect(fleet.directory.find('m', 'chat', 'b').name).toBe('b/chat');
    expect(fleet.directory.find('m', 'chat', 'default').name).toBe('chat');
    expect(fleet.directory.find('f', 'chat', 'default').name).toBe('chat');
    expect(() => fleet.directory.find('m', 'chat', 'a')).toThrowError(expect.objectContaining({ status: 404 }));
    expect(() => put('default', 'chat', null)).toThrowError(expect.objectContaining({ code: 'ENDPOINT_TAKEN' }));
    expect(() => fleet.directory.find('f', 'chat', 'b')).toThrowError(expect.objectContaining({ status: 404 }));
    expect(() => fleet.directory.find('m', 'x', 'b')).toThrowError(expect.objectContaining({ status: 404 }));
    fleet.endpoints.get('chat')!.replicas[0]!.drain();
    for (const name of ['x', 'y']) put('a', name, null);
    put('a-b', 'x', null);
    put('b', 'chat', null);
    expect(fleet.directory.find('m', null).name).toBe('chat');
  });

  it('are not reported as missing before all are known', () => {
    const { fleet, routes } = fleetOf();
    const denied = (name: string | null, status: number) =>
      expect(() => fleet.directory.find('m', name, 'ws')).toThrowError(expect.objectContaining({ status }));
    const settled = fleet.directory.settling.begin();
    for (const name of ['chat', null]) denied(name, 503);
    routes.put(managedEndpoint([managedReplica('a', NOWHERE)]));
    expect(fleet.directory.find('m', null).name).toBe('ws/chat');
    settled();
    denied('other', 404);
  });

  it('without a replica are waited for, unless none is expected: then the request fails at once', () => {
    const { fleet, routes } = fleetOf();
    routes.put(managedEndpoint([]));
    expect(fleet.directory.find('m', 'chat', 'ws').name).toBe('ws/chat');
    expect(() => fleet.directory.find('m', null)).toThrowError(expect.objectContaining({ status: 404 }));
    routes.put(managedEndpoint([], { models: ['m'], isIdle: true, waitsFor: 'it is paused' }));
    for (const name of ['chat', null]) {
      expect(() => fleet.directory.find('m', name, 'ws')).toThrowError(
        expect.objectContaining({ status: 503, message: expect.stringContaining('it is paused') }),
      );
    }
    routes.put(managedEndpoint([], { isIdle: true }));
    expect(() => fleet.directory.find('m', 'chat', 'ws')).toThrowError(expect.objectContaining({ status: 503 }));
  });
});
