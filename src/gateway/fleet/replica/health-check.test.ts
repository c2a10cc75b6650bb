import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GATEWAY_DEFAULTS } from '../../config/gateway-config.js';
import { FakeEngine } from '../../fake-engine.fixture.js';
import { upstream } from '../managed.fixture.js';
import { checkHealth } from './health-check.js';
import { LiveReplica } from './live-replica.js';

const HEALTH = { intervalMs: 1000, timeoutMs: 5000, failures: 2 };

let engine: FakeEngine;
let replica: LiveReplica;
beforeEach(async () => {
  engine = await FakeEngine.start();
  replica = new LiveReplica({ id: 'r', url: engine.url, engine: 'vllm', models: null }, GATEWAY_DEFAULTS);
});
afterEach(async () => {
  await replica.close();
  await engine.kill();
});

const check = () => checkHealth(replica, HEALTH, () => 9);

describe('checkHealth', () => {
  it('makes a replica ready and reads its models', async () => {
    engine.models = ['a', 'b'];
    await check();
    expect([replica.state, replica.readySinceMs, [...replica.models]]).toEqual(['ready', 9, ['a', 'b']]);
    engine.models = ['c'];
    await check();
    expect([...replica.models]).toEqual(['c']);
  });

  it.each([
    ['/health', 503, '', '/health says 503'],
    ['/v1/models', 200, '{"data":[]}', '/v1/models names no model'],
    ['/v1/models', 200, '{"data":[{"id":5}]}', '/v1/models names no model'],
    ['/v1/models', 404, '{}', '/v1/models names no model'],
    ['/v1/models', 200, 'no JSON', 'JSON'],
  ])('is not ready when %s returns %i %s', async (path, status, text, problem) => {
    engine.pages.set(path, { status, text });
    await check();
    expect([replica.state, replica.problem]).toEqual(['starting', expect.stringContaining(problem)]);
  });

  it('does not query models that are configured', async () => {
    engine.pages.set('/v1/models', { status: 500, text: '' });
    await replica.close();
    replica = new LiveReplica({ id: 'r', url: engine.url, engine: 'vllm', models: ['m'] }, GATEWAY_DEFAULTS);
    await check();
    expect([replica.state, [...replica.models]]).toEqual(['ready', ['m']]);
  });

  it('reports why a replica cannot be reached, and never throws', async () => {
    await check();
    await engine.kill();
    await check();
    expect([replica.state, replica.healthFailures]).toEqual(['ready', 1]);
    await check();
    expect([replica.state, replica.problem]).toEqual(['unhealthy', 'ECONNREFUSED']);
    await replica.close();
    await check();
    expect(replica.problem).toBe('UPSTREAM_CLOSED');
    await engine.listen(0);
  });

  it('does not wait forever', async () => {
    engine.hangs.add('/health');
    await checkHealth(replica, { ...HEALTH, timeoutMs: 20 }, () => 0);
    expect([replica.state, replica.problem]).toEqual(['starting', 'UPSTREAM_HEADERS_TIMEOUT']);
  });
});

describe('checkHealth of an external API', () => {
  async function checked(
    status: number,
    text: string,
    models: readonly string[] | null,
    times = 1,
  ): Promise<LiveReplica> {
    await replica.close();
    replica = new LiveReplica(upstream('u', engine.url, { prefix: '/api' }, models), GATEWAY_DEFAULTS);
    engine.pages.set('/api/models', { status, text });
    for (let i = 0; i < times; i++) await check();
    return replica;
  }

  it('queries its models, if it lists them', async () => {
    const { models, state } = await checked(200, '{"data":[{"id":"a"}]}', null);
    expect([state, [...models]]).toEqual(['ready', ['a']]);
    engine.pages.set('/api/models', { status: 429, text: '' });
    await check();
    expect([replica.state, replica.problem, [...replica.models]]).toEqual(['ready', '', ['a']]);
  });

  it.each([200, 404, 405, 429])('accepts %i where they are configured', async (status) => {
    expect((await checked(status, 'no JSON', ['m'])).state).toBe('ready');
  });

  it.each([
    [401, ['m'], 'it refuses the credential'],
    [403, ['m'], 'its list of models says 403'],
    [500, ['m'], 'its list of models says 500'],
    [404, null, 'its list of models says 404: name its models'],
    [200, null, '/v1/models names no model'],
  ])('does not accept %i for %j', async (status, models, problem) => {
    const { problem: told, state } = await checked(status, '{"data":[]}', models);
    expect([state, told]).toEqual(['starting', problem]);
  });
});
