import { request as httpRequest } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { InputError } from '../../kernel/errors.js';
import type { GatewayConfig } from '../config/gateway-config.js';
import { configFor, FakeEngine, until } from '../fake-engine.fixture.js';
import { Gateway } from '../gateway.js';

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
  await gateway.start();
  opened.push(() => gateway.close(0));
  return gateway;
}

/** What the API answers to whoever has the token. */
async function ask(gateway: Gateway, path: string, method = 'GET', body?: unknown) {
  const answer = await fetch(gateway.adminUrl + path, {
    method,
    headers: { authorization: `Bearer ${gateway.adminToken}` },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) };
}

const chat = (gateway: Gateway, id: string) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-request-id': id },
    body: '{"model":"m","messages":[{"role":"user","content":"hello"}]}',
  });

describe('the admin port', () => {
  it('asks for the token, everywhere under /api', async () => {
    const gateway = await gatewayOf([await engineOf()]);
    const statusOf = async (headers: Record<string, string>) =>
      (await fetch(`${gateway.adminUrl}/api/replicas`, { headers })).status;
    expect(await statusOf({})).toBe(401);
    expect(await statusOf({ authorization: 'Bearer ' })).toBe(401);
    expect(await statusOf({ authorization: `Bearer ${'x'.repeat(gateway.adminToken.length)}` })).toBe(401);
    expect(await statusOf({ authorization: gateway.adminToken })).toBe(401);
    expect(await statusOf({ authorization: `Bearer ${gateway.adminToken}` })).toBe(200);
    expect((await fetch(`${gateway.adminUrl}/api/nothing`)).status).toBe(401);
    expect((await fetch(`${gateway.adminUrl}/api/reload`, { method: 'POST' })).status).toBe(401);
  });

  it('answers without it only whether it lives and what is counted', async () => {
    const gateway = await gatewayOf([await engineOf()]);
    expect(await (await fetch(`${gateway.adminUrl}/health`)).json()).toEqual({ status: 'alive' });
    expect(await (await fetch(`${gateway.adminUrl}/metrics`)).text()).toContain('twinyard_in_flight 0');
    expect((await fetch(`${gateway.adminUrl}/v1/models`)).status).toBe(404);
    expect((await fetch(`${gateway.adminUrl}/`)).status).toBe(404);
  });

  it('tells of decisions', async () => {
    const gateway = await gatewayOf([await engineOf()]);
    for (const id of ['a', 'b/c']) await chat(gateway, id);
    expect((await ask(gateway, '/api/decisions')).body.map(({ id }: { id: string }) => id)).toEqual(['b/c', 'a']);
    expect((await ask(gateway, '/api/decisions/b%2Fc')).body.id).toBe('b/c');
    const { status, body } = await ask(gateway, '/api/decisions/a');
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ id: 'a', policy: 'round-robin', policyHash: expect.any(String), replica: 'r0' }),
    ]);
    expect(body.replicas[0]).toMatchObject({ id: 'r0', ageUs: expect.any(Number), score: null, missing: [] });
    expect(await ask(gateway, '/api/decisions/none')).toMatchObject({
      status: 404,
      body: { error: "no decision about 'none' is remembered" },
    });
  });

  it.each(['/api/decisions/%', '/api/decisions/%zz', '/api/replicas/%ff', '/api/endpoints/%c0/policy'])(
    'is not thrown by %s',
    async (path) => {
      const gateway = await gatewayOf([await engineOf()]);
      const method = path.includes('endpoints') ? 'PUT' : path.includes('replicas') ? 'DELETE' : 'GET';
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
      expect([status, gateway.metrics.faults]).toEqual([400, 0]);
    },
  );

  it('shows its configuration as it is now, and no secret', async () => {
    const [one, two] = [await engineOf(), await engineOf()];
    const gateway = await gatewayOf([one]);
    await ask(gateway, '/api/replicas', 'POST', { url: two.url, id: 'late' });
    const { body } = await ask(gateway, '/api/config');
    expect(body.endpoints[0].replicas.map(({ id }: { id: string }) => id)).toEqual(['r0', 'late']);
    expect(body.limits).toEqual(gateway.config.limits);
    expect(JSON.stringify(body)).not.toContain(gateway.adminToken);
  });

  it('refuses other methods and says which there are', async () => {
    const gateway = await gatewayOf([await engineOf()]);
    const wrong = await ask(gateway, '/api/replicas', 'PATCH', {});
    expect([wrong.status, wrong.headers.get('allow'), wrong.body]).toEqual([
      405,
      'GET, POST',
      { error: '/api/replicas does not take PATCH: use GET, POST' },
    ]);
    expect((await ask(gateway, '/api/reload')).status).toBe(405);
    expect((await ask(gateway, '/api/decisions/a', 'DELETE')).status).toBe(405);
    expect((await ask(gateway, '/api/nothing')).status).toBe(404);
    expect((await ask(gateway, '/api/replicas', 'HEAD')).status).toBe(200);
    expect((await ask(gateway, '/api/replicas', 'POST', 'x'.repeat(2 * 1024 * 1024))).status).toBe(413);
  });

  it('survives a bug, and tells its keeper', async () => {
    const gateway = await gatewayOf([await engineOf()], () => {
      throw new TypeError('a bug');
    });
    const heard: unknown[] = [];
    gateway.onFault = (error) => heard.push(error);
    expect(await ask(gateway, '/api/reload', 'POST')).toMatchObject({
      status: 500,
      body: { error: 'the gateway failed' },
    });
    expect([gateway.metrics.faults, heard]).toEqual([1, [new TypeError('a bug')]]);
  });
});

describe('the admin API changes', () => {
  it('replicas: one joins and gets requests, one leaves and gets none', async () => {
    const [one, two] = [await engineOf(), await engineOf()];
    const gateway = await gatewayOf([one]);
    const added = await ask(gateway, '/api/replicas', 'POST', { url: two.url, id: 'late', engine: 'sglang' });
    expect(added).toMatchObject({ status: 201, body: { id: 'late', endpoint: 'default', engine: 'sglang' } });
    await until(() => gateway.isReady && gateway.replicas()[1]!.state === 'ready');
    for (const id of ['a', 'b']) await chat(gateway, id);
    expect([one.seen.length, two.seen.length]).toEqual([1, 1]);

    two.answer = () => {};
    one.answer = () => {};
    const calls = [chat(gateway, 'c'), chat(gateway, 'd')];
    const held = [await one.got(2), await two.got(2)];
    expect(await ask(gateway, '/api/replicas/r0', 'DELETE')).toMatchObject({
      status: 202,
      body: { status: 'leaving', active: 1 },
    });
    const { body } = await ask(gateway, '/api/replicas');
    expect(body.map(({ id, endpoint, state }: Record<string, string>) => [id, endpoint, state])).toEqual([
      ['late', 'default', 'ready'],
      ['r0', null, 'draining'],
    ]);
    for (const { response } of held) response.end('{}');
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200]);
    await until(() => gateway.fleet.leaving().length === 0);
    expect((await ask(gateway, '/api/replicas')).body).toHaveLength(1);
  });

  it.each([
    [{}, 400, 'is missing'],
    ['{', 400, 'is not valid JSON'],
    [{ url: 'http://h:1', id: 'r0' }, 409, "there is a replica 'r0'"],
    [{ url: 'http://h:1', endpoint: 'x' }, 404, "there is no endpoint 'x'"],
    [{ url: 'http://h:1', engine: 'x' }, 400, "unknown value 'x'"],
  ])('replicas: %j is refused', async (body, status, error) => {
    const gateway = await gatewayOf([await engineOf()]);
    const answer = await ask(gateway, '/api/replicas', 'POST', body);
    expect(answer).toMatchObject({ status, body: { error: expect.stringContaining(error) } });
    expect(gateway.replicas()).toHaveLength(1);
    expect((await ask(gateway, '/api/replicas/none', 'DELETE')).status).toBe(404);
  });

  it('a policy, without a replica noticing', async () => {
    const engine = await engineOf();
    const gateway = await gatewayOf([engine]);
    engine.answer = () => {};
    const call = chat(gateway, 'held');
    const { response } = await engine.got(1);
    const [before] = (await ask(gateway, '/api/endpoints')).body;
    expect(before).toMatchObject({
      name: 'default',
      in_flight: 1,
      replicas: ['r0'],
      policy: { routing: { policy: 'round-robin' } },
    });
    const path = '/api/endpoints/default/policy';
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
      body: { error: expect.stringContaining("unknown routing policy 'wighted'") },
    });
    expect((await ask(gateway, '/api/endpoints/none/policy', 'PUT', {})).status).toBe(404);
    const unheard = await ask(gateway, path, 'PUT', { routing: { policy: 'lmetric' }, priority: { policy: 'x' } });
    expect([swapped.body.warnings, unheard.body.warnings]).toEqual([[], [expect.stringContaining('has no effect')]]);
    expect((await ask(gateway, '/api/endpoints')).body[0].policy.routing.policy).toBe('lmetric');
  });

  it('a policy back, one after the other, as long as it remembers them', async () => {
    const gateway = await gatewayOf([await engineOf()]);
    const path = '/api/endpoints/default/policy';
    const names = async () =>
      (await ask(gateway, `${path}/history`)).body.map(
        ({ policy }: { policy: { routing: { policy: string } } }) => policy.routing.policy,
      );
    for (const policy of ['lmetric', 'least-loaded']) await ask(gateway, path, 'PUT', { policy });
    expect(await names()).toEqual(['least-loaded', 'lmetric', 'round-robin']);
    const [{ policy_hash: hash, age_s: age }] = (await ask(gateway, `${path}/history`)).body;
    expect([hash, age]).toEqual([gateway.endpoints.get('default')!.policyHash, expect.any(Number)]);
    expect(await ask(gateway, `${path}/rollback`, 'POST')).toMatchObject({
      status: 200,
      body: { policy: { routing: { policy: 'lmetric' } } },
    });
    expect(await names()).toEqual(['lmetric', 'round-robin']);
    expect((await ask(gateway, `${path}/rollback`, 'POST')).body.policy.routing.policy).toBe('round-robin');
    expect(await ask(gateway, `${path}/rollback`, 'POST')).toMatchObject({
      status: 409,
      body: { error: "endpoint 'default' remembers no policy before this one" },
    });
    for (const [what, method] of [
      ['history', 'GET'],
      ['rollback', 'POST'],
    ] as const) {
      expect((await ask(gateway, `/api/endpoints/none/policy/${what}`, method)).status).toBe(404);
    }
  });

  it('the whole configuration, when it is read again and right', async () => {
    const [one, two] = [await engineOf(), await engineOf()];
    let again = (): GatewayConfig => ({ ...configFor([one, two]), seed: 7, drainMs: 77 });
    const gateway = await gatewayOf([one], () => again());
    expect(await ask(gateway, '/api/reload', 'POST')).toMatchObject({
      status: 200,
      body: { status: 'reloaded', needs_restart: ['seed'] },
    });
    expect([gateway.replicas().length, gateway.config.drainMs, gateway.config.seed]).toEqual([2, 77, 42]);
    again = () => {
      throw new InputError('X', 'twinyard.yaml:3', 'is wrong', 'mend it');
    };
    expect(await ask(gateway, '/api/reload', 'POST')).toMatchObject({
      status: 400,
      body: { error: 'twinyard.yaml:3: is wrong; mend it' },
    });
    expect([gateway.replicas().length, gateway.metrics.faults]).toEqual([2, 0]);
  });
});
