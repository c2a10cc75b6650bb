import { request as httpRequest } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, type GatewayConfig } from '../../gateway/config/gateway-config.js';
import { configFor, FakeEngine, until } from '../../gateway/fake-engine.fixture.js';
import { managedEndpoint } from '../../gateway/fleet/managed.fixture.js';
import { Gateway } from '../../gateway/gateway.js';
import { InputError } from '../../kernel/errors.js';
import { serveApi } from '../api-server.js';

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function engineOf(): Promise<FakeEngine> {
  const engine = await FakeEngine.start();
  opened.push(() => engine.kill());
  return engine;
}

async function gatewayOf(engines: FakeEngine[], again?: () => GatewayConfig): Promise<Gateway> {
  const gateway = new Gateway(configFor(engines), again);
  gateway.api = serveApi(gateway);
  await gateway.start();
  opened.push(() => gateway.close(0));
  return gateway;
}

const REPLICAS = '/api/v1/workspaces/default/endpoints/default/replicas';

/** The response of the API to the holder of the admin token. */
async function ask(gateway: Gateway, path: string, method = 'GET', body?: unknown) {
  const answer = await fetch(gateway.adminUrl + path, {
    method,
    headers: { authorization: `Bearer ${gateway.adminToken}` },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) };
}

const idOf = ({ id }: { id: string }) => id;

const chat = (gateway: Gateway, id: string) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-request-id': id },
    body: '{"model":"m","messages":[{"role":"user","content":"hello"}]}',
  });

describe('the admin port', () => {
  it('requires the admin token for every path below /api', async () => {
    const gateway = await gatewayOf([await engineOf()]);
    const statusOf = async (headers: Record<string, string>) =>
      (await fetch(`${gateway.adminUrl}/api/v1/replicas`, { headers })).status;
    expect(await statusOf({})).toBe(401);
    expect(await statusOf({ authorization: 'Bearer ' })).toBe(401);
    expect(await statusOf({ authorization: `Bearer ${'x'.repeat(gateway.adminToken.length)}` })).toBe(401);
    expect(await statusOf({ authorization: gateway.adminToken })).toBe(401);
    expect(await statusOf({ authorization: `Bearer ${gateway.adminToken}` })).toBe(200);
    expect((await fetch(`${gateway.adminUrl}/api/v1/nothing`)).status).toBe(401);
    expect((await fetch(`${gateway.adminUrl}/api/v1/config/reload`, { method: 'POST' })).status).toBe(401);
  });

  it('serves health and metrics without it', async () => {
    const gateway = await gatewayOf([await engineOf()]);
    expect(await (await fetch(`${gateway.adminUrl}/health`)).json()).toEqual({ status: 'alive' });
    expect(await (await fetch(`${gateway.adminUrl}/metrics`)).text()).toContain('twinyard_in_flight 0');
    expect((await fetch(`${gateway.adminUrl}/v1/models`)).status).toBe(404);
  });

  it('lists and explains decisions', async () => {
    const gateway = await gatewayOf([await engineOf()]);
    for (const id of ['a', 'b/c']) await chat(gateway, id);
    expect((await ask(gateway, '/api/v1/decisions')).body.items.map(idOf)).toEqual(['b/c', 'a']);
    const first = (await ask(gateway, '/api/v1/decisions?limit=1')).body;
    await chat(gateway, 'later');
    const second = (await ask(gateway, `/api/v1/decisions?limit=1&cursor=${first.next}`)).body;
    expect([first.items.map(idOf), second.items.map(idOf), second.next]).toEqual([['b/c'], ['a'], null]);
    expect((await ask(gateway, '/api/v1/decisions?endpoint=other')).body.items).toEqual([]);
    expect((await ask(gateway, '/api/v1/decisions/b%2Fc')).body.id).toBe('b/c');
    const { status, body } = await ask(gateway, '/api/v1/decisions/a');
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ id: 'a', policy: 'round-robin', policyHash: expect.any(String), replica: 'r0' }),
    ]);
    expect(body.replicas[0]).toMatchObject({ id: 'r0', ageUs: expect.any(Number), score: null, missing: [] });
    expect(await ask(gateway, '/api/v1/decisions/none')).toMatchObject({
      status: 404,
      body: { error: { code: 'API_DECISION', message: "request 'none': has no recorded decision" } },
    });
  });

  it.each(['/api/v1/decisions/%', '/api/v1/decisions/%zz', '/api/v1/endpoints/%c0'])(
    'returns 404 for %s',
    async (path) => {
      const gateway = await gatewayOf([await engineOf()]);
      const method = 'GET';
      // fetch would mend the path.
      const status = await new Promise<number>((resolve, reject) => {
        const headers = { authorization: `Bearer ${gateway.adminToken}` };
        const call = httpRequest(gateway.adminUrl, { path, method, headers }, (answer) => {
          resolve(answer.statusCode!);
          answer.resume();
        });
        call.on('error', reject);
        call.end();
      });
      expect([status, gateway.metrics.faults]).toEqual([404, 0]);
    },
  );

  it('lists the nearest replicas of decisions, and explains one with all', async () => {
    const engine = await engineOf();
    const gateway = await gatewayOf(Array.from({ length: 12 }, () => engine));
    await until(() => gateway.replicas().every(({ state }) => state === 'ready'));
    await chat(gateway, 'a');
    const [listed] = (await ask(gateway, '/api/v1/decisions')).body.items;
    expect([listed.replicaCount, listed.replicas.length]).toEqual([12, 8]);
    expect(listed.replicas.map(idOf)).toContain(listed.replica);
    expect((await ask(gateway, '/api/v1/decisions/a')).body.replicas.length).toBe(12);
  });

  it('leaves endpoints parked that are only looked at', async () => {
    const gateway = await gatewayOf([await engineOf()]);
    const policyOf = (n: number) => ({ ...DEFAULT_POLICY, name: 'weighted', cacheBlocks: n + 1 });
    for (let n = 0; n < 300; n++) {
      gateway.routes.put(managedEndpoint([], { name: `e${n}`, policy: policyOf(n), models: [`m${n}`], isIdle: true }));
    }
    const parked = () => [...gateway.endpoints.values()].filter(({ usedFlow }) => usedFlow === null).length;
    expect(parked()).toBe(300);
    const { items } = (await ask(gateway, '/api/v1/live?limit=1000')).body;
    expect(new Set(items.map((one: { policy_hash: string }) => one.policy_hash)).size).toBe(301);
    for (const path of ['traffic', 'replicas', 'workspaces/ws/endpoints/e7/live'])
      await ask(gateway, `/api/v1/${path}`);
    await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    expect(parked()).toBe(300);
  });

  it('returns the configuration in force, and no secret', async () => {
    const [one, two] = [await engineOf(), await engineOf()];
    const gateway = await gatewayOf([one]);
    await ask(gateway, REPLICAS, 'POST', { url: two.url, id: 'late' });
    const { body } = await ask(gateway, '/api/v1/config');
    expect(body.endpoints[0].replicas.map(({ id }: { id: string }) => id)).toEqual(['r0', 'late']);
    expect(body.limits).toEqual(gateway.config.limits);
    expect(JSON.stringify(body)).not.toContain(gateway.adminToken);
  });

  it('returns 405 with the methods that a path supports', async () => {
    const gateway = await gatewayOf([await engineOf()]);
    const wrong = await ask(gateway, REPLICAS, 'PATCH', {});
    expect([wrong.status, wrong.headers.get('allow'), wrong.body]).toEqual([
      405,
      'GET, POST',
      { error: expect.objectContaining({ code: 'API_METHOD', hint: 'use GET, POST' }) },
    ]);
    expect((await ask(gateway, '/api/v1/config/reload')).status).toBe(405);
    expect((await ask(gateway, '/api/v1/decisions/a', 'DELETE')).status).toBe(405);
    expect((await ask(gateway, '/api/v1/nothing')).status).toBe(404);
    expect((await ask(gateway, REPLICAS, 'HEAD')).status).toBe(200);
    expect((await ask(gateway, REPLICAS, 'POST', 'x'.repeat(2 * 1024 * 1024))).status).toBe(413);
  });

  it('has a reloaded configuration followed, and reports what does not follow it as reloaded all the same', async () => {
    const gateway = await gatewayOf([await engineOf()]);
    const [followed, warnings]: [unknown[], string[]] = [[], []];
    gateway.onWarning = (line) => warnings.push(line);
    gateway.onReloaded = (config) => {
      followed.push(config);
      if (followed.length === 2) throw new Error('the cluster is away');
    };
    for (let i = 0; i < 2; i++) expect((await ask(gateway, '/api/v1/config/reload', 'POST')).status).toBe(200);
    expect([followed, warnings]).toEqual([
      [gateway.config, gateway.config],
      [expect.stringContaining('not followed everywhere: the cluster is away')],
    ]);
  });

  it('survives a bug and counts it', async () => {
    const gateway = await gatewayOf([await engineOf()], () => {
      throw new TypeError('a bug');
    });
    const heard: unknown[] = [];
    gateway.onFault = (error) => heard.push(error);
    expect(await ask(gateway, '/api/v1/config/reload', 'POST')).toMatchObject({
      status: 500,
      body: { error: { code: 'API_INTERNAL' } },
    });
    expect([gateway.metrics.faults, heard]).toEqual([1, [new TypeError('a bug')]]);
  });
});

describe('the API', () => {
  it('adds a replica, which gets requests, and removes one, which gets none', async () => {
    const [one, two] = [await engineOf(), await engineOf()];
    const gateway = await gatewayOf([one]);
    const added = await ask(gateway, REPLICAS, 'POST', { url: two.url, id: 'late', engine: 'sglang' });
    expect(added).toMatchObject({
      ...{ status: 201, body: { id: 'late', workspace: 'default', endpoint: 'default', engine: 'sglang' } },
    });
    await until(() => gateway.isReady && gateway.replicas()[1]!.state === 'ready');
    for (const id of ['a', 'b']) await chat(gateway, id);
    expect([one.seen.length, two.seen.length]).toEqual([1, 1]);

    two.answer = () => {};
    one.answer = () => {};
    const calls = [chat(gateway, 'c'), chat(gateway, 'd')];
    const held = [await one.got(2), await two.got(2)];
    expect(await ask(gateway, '/api/v1/workspaces/default/endpoints/default/replicas/r0', 'DELETE')).toMatchObject({
      status: 202,
      body: { status: 'leaving', active: 1 },
    });
    const { body } = await ask(gateway, '/api/v1/replicas');
    expect(body.items.map(({ id, leaving, state }: Record<string, unknown>) => [id, leaving, state])).toEqual([
      ['late', false, 'ready'],
      ['r0', true, 'draining'],
    ]);
    for (const { response } of held) response.end('{}');
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200]);
    await until(() => gateway.fleet.leaving().length === 0);
    expect((await ask(gateway, '/api/v1/replicas')).body.items).toHaveLength(1);
  });

  it.each([
    [{}, 400, 'is missing'],
    ['{', 400, 'is not valid JSON'],
    [{ url: 'http://h:1', id: 'r0' }, 409, "replica 'r0' already exists"],
    [{ url: 'http://h:1', endpoint: 'x' }, 400, "unknown key 'endpoint'"],
    [{ url: 'http://h:1', engine: 'x' }, 400, "unknown value 'x'"],
  ])('refuses the replica %j', async (body, status, error) => {
    const gateway = await gatewayOf([await engineOf()]);
    const answer = await ask(gateway, REPLICAS, 'POST', body);
    expect(answer).toMatchObject({ status, body: { error: { message: expect.stringContaining(error) } } });
    expect(gateway.replicas()).toHaveLength(1);
    expect((await ask(gateway, '/api/v1/workspaces/default/endpoints/default/replicas/none', 'DELETE')).status).toBe(
      404,
    );
  });

  it('swaps a policy while requests are in flight', async () => {
    const engine = await engineOf();
    const gateway = await gatewayOf([engine]);
    engine.answer = () => {};
    const call = chat(gateway, 'held');
    const { response } = await engine.got(1);
    const [before] = (await ask(gateway, '/api/v1/live')).body.items;
    expect(before).toMatchObject({
      name: 'default',
      in_flight: 1,
      replicas: ['r0'],
      policy: { routing: { policy: 'round-robin' } },
    });
    const path = '/api/v1/workspaces/default/endpoints/default/policy';
    const swapped = await ask(gateway, path, 'PUT', { policy: 'lmetric', block_size: 32 });
    expect(swapped).toMatchObject({
      status: 200,
      body: {
        in_flight: 1,
        policy: { routing: { policy: 'lmetric', block_size: 32 } },
        policy_hash: expect.any(String),
      },
    });
    expect(swapped.body.policy_hash).not.toBe(before.policy_hash);
    response.end('{}');
    expect((await call).status).toBe(200);
    expect(gateway.endpoints.get('default')!.inFlight).toBe(0);
    expect(await ask(gateway, path, 'PUT', { policy: 'wighted' })).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining("unknown routing policy 'wighted'") } },
    });
    expect((await ask(gateway, '/api/v1/workspaces/default/endpoints/none/policy', 'PUT', {})).status).toBe(404);
    const unheard = await ask(gateway, path, 'PUT', { routing: { policy: 'lmetric' }, priority: { policy: 'x' } });
    expect([swapped.body.warnings, unheard.body.warnings]).toEqual([[], [expect.stringContaining('has no effect')]]);
    expect((await ask(gateway, '/api/v1/live')).body.items[0].policy.routing.policy).toBe('lmetric');
  });

  it('rolls a policy back, one version after the other', async () => {
    const gateway = await gatewayOf([await engineOf()]);
    const path = '/api/v1/workspaces/default/endpoints/default/policy';
    const names = async () =>
      (await ask(gateway, `${path}/history`)).body.items.map(
        ({ policy }: { policy: { routing: { policy: string } } }) => policy.routing.policy,
      );
    for (const policy of ['lmetric', 'least-loaded']) await ask(gateway, path, 'PUT', { policy });
    expect(await names()).toEqual(['least-loaded', 'lmetric', 'round-robin']);
    const [{ policy_hash: hash, age_s: age }] = (await ask(gateway, `${path}/history`)).body.items;
    expect([hash, age]).toEqual([gateway.endpoints.get('default')!.policyHash, expect.any(Number)]);
    expect(await ask(gateway, `${path}/rollback`, 'POST')).toMatchObject({
      status: 200,
      body: { policy: { routing: { policy: 'lmetric' } } },
    });
    expect(await names()).toEqual(['lmetric', 'round-robin']);
    expect((await ask(gateway, `${path}/rollback`, 'POST')).body.policy.routing.policy).toBe('round-robin');
    expect(await ask(gateway, `${path}/rollback`, 'POST')).toMatchObject({
      status: 409,
      body: { error: { code: 'API_NO_EARLIER_POLICY' } },
    });
    for (const [what, method] of [
      ['history', 'GET'],
      ['rollback', 'POST'],
    ] as const) {
      expect((await ask(gateway, `/api/v1/workspaces/default/endpoints/none/policy/${what}`, method)).status).toBe(404);
    }
  });

  it('reloads the configuration file, and keeps the old one when it is invalid', async () => {
    const [one, two] = [await engineOf(), await engineOf()];
    let again = (): GatewayConfig => ({ ...configFor([one, two]), seed: 7, drainMs: 77 });
    const gateway = await gatewayOf([one], () => again());
    expect(await ask(gateway, '/api/v1/config/reload', 'POST')).toMatchObject({
      status: 200,
      body: { status: 'reloaded', needs_restart: ['seed'] },
    });
    expect([gateway.replicas().length, gateway.config.drainMs, gateway.config.seed]).toEqual([2, 77, 42]);
    again = () => {
      throw new InputError('X', 'twinyard.yaml:3', 'is wrong', 'mend it');
    };
    expect(await ask(gateway, '/api/v1/config/reload', 'POST')).toMatchObject({
      status: 400,
      body: { error: { message: 'twinyard.yaml:3: is wrong', hint: 'mend it' } },
    });
    expect([gateway.replicas().length, gateway.metrics.faults]).toEqual([2, 0]);
  });
});
