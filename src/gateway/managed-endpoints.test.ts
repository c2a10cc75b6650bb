import { afterEach, describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, GATEWAY_DEFAULTS, type GatewayConfig } from './config/gateway-config.js';
import { FakeEngine, sendJson, startGateway, until } from './fake-engine.fixture.js';
import { managedEndpoint, managedReplica, upstream } from './fleet/managed.fixture.js';
import type { Gateway } from './gateway.js';

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function engineOf(): Promise<FakeEngine> {
  const engine = await FakeEngine.start();
  opened.push(() => engine.kill());
  return engine;
}

/** Waits are longer than any test, unless a test sets them. */
async function gatewayOf(change: Partial<GatewayConfig> = {}): Promise<Gateway> {
  const gateway = await startGateway([], { endpoints: [], waitMs: 1e6, ...change });
  opened.push(() => gateway.close(0));
  return gateway;
}

const PATH = '/workspace/ws/endpoint/chat';

function post(gateway: Gateway, body: object = {}, headers: Record<string, string> = {}, path = PATH) {
  const request = { model: 'm', messages: [{ role: 'user', content: 'hello' }], ...body };
  return fetch(`${gateway.url}${path}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(request) });
}

const messageOf = async (answer: Response) => ((await answer.json()) as { error: { message: string } }).error.message;

describe('a managed endpoint', () => {
  it('is reached by path and by model, and lists its models', async () => {
    const [engine, gateway] = [await engineOf(), await gatewayOf()];
    gateway.routes.put(managedEndpoint([managedReplica('a', engine.url)]));
    const answer = await post(gateway);
    expect([answer.status, answer.headers.get('x-twinyard-replica')]).toEqual([200, 'a']);
    expect((await post(gateway, {}, {}, '')).status).toBe(200);
    expect((await engine.got(1)).request.url).toBe('/v1/chat/completions');
    expect(await (await fetch(`${gateway.url}/v1/models`)).json()).toMatchObject({ data: [{ id: 'm' }] });
    expect(gateway.metricsText()).toContain('twinyard_endpoint_in_flight{endpoint="ws/chat"} 0');
    expect((await post(gateway, {}, {}, '/workspace/other/endpoint/chat')).status).toBe(404);
  });

  it.each([
    ['text-embedding', '/v1/rerank', 'text-rerank'],
    ['text-embedding', '/rerank', 'text-rerank'],
    ['text-embedding', '/v1/chat/completions', 'text-generation'],
    ['text-rerank', '/v1/embeddings', 'text-embedding'],
    ['text-generation', '/v2/rerank', 'text-rerank'],
    ['text-generation', '/v1/embeddings', 'text-embedding'],
  ] as const)('of the task %s refuses %s, and serves its own requests', async (task, path, needed) => {
    const [engine, gateway] = [await engineOf(), await gatewayOf()];
    gateway.routes.put(managedEndpoint([managedReplica('a', engine.url)], { task }));
    const send = (to: string) =>
      fetch(`${gateway.url}${to}`, {
        method: 'POST',
        body: JSON.stringify({ model: 'm', input: 'a', query: 'a', documents: ['b'], messages: [] }),
      });
    for (const prefix of [PATH, '']) {
      const refused = await send(prefix + path);
      expect(refused.status).toBe(400);
      expect(await messageOf(refused)).toMatch(`The model 'm' is served for ${task}: `);
    }
    const own = {
      'text-embedding': '/v1/embeddings',
      'text-rerank': '/v1/rerank',
      'text-generation': '/v1/completions',
    };
    expect(await messageOf(await send(path))).toMatch(`needs one for ${needed}.`);
    expect((await send(own[task])).status).toBe(200);
    expect(engine.seen).toHaveLength(1);
  });

  it('shows its own models by its path', async () => {
    const [engine, gateway] = [await engineOf(), await gatewayOf()];
    gateway.routes.put(managedEndpoint([managedReplica('a', engine.url, { models: ['n', 'm'] })]));
    gateway.routes.put(managedEndpoint([managedReplica('b', engine.url, { models: ['other'] })], { name: 'second' }));
    const list = async (path: string, method = 'GET') => {
      const answer = await fetch(`${gateway.url}${path}/v1/models?a=b`, { method });
      const { data, error } = (await answer.json()) as { data?: { id: string }[]; error?: { message: string } };
      return [answer.status, data?.map(({ id }) => id) ?? error!.message];
    };
    expect(await list('')).toEqual([200, ['m', 'n', 'other']]);
    expect(await list(PATH)).toEqual([200, ['m', 'n']]);
    expect(await list('/workspace/ws/endpoint/second')).toEqual([200, ['other']]);
    expect(await list('/workspace/other/endpoint/chat')).toEqual([404, "There is no endpoint 'chat' here."]);
    expect(await list(PATH, 'POST')).toEqual([405, expect.stringContaining('GET, HEAD')]);
  });

  it('holds requests for unknown endpoints until the control plane has declared all of them', async () => {
    const [engine, gateway] = [await engineOf(), await gatewayOf()];
    const { settling } = gateway.fleet.directory;
    const settled = settling.begin();
    let ended = 0;
    const leave = new AbortController();
    const left = fetch(`${gateway.url}/v1/models`, { signal: leave.signal }).catch(() => 'left');
    const calls = [
      post(gateway),
      post(gateway, {}, {}, ''),
      post(gateway, {}, {}, '/workspace/ws/endpoint/third'),
      fetch(`${gateway.url}/v1/models`),
    ].map((call) => call.finally(() => ended++));
    await until(() => settling.waiting === 5);
    leave.abort();
    expect(await left).toBe('left');
    await until(() => settling.waiting === 4);
    gateway.routes.put(managedEndpoint([managedReplica('a', engine.url)]));
    expect(ended).toBe(0);
    settled();
    const answers = await Promise.all(calls);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 200]);
    expect(await answers[3]!.json()).toMatchObject({ data: [{ id: 'm' }] });
    expect(settling.waiting).toBe(0);
  });

  it('refuses requests that wait for its endpoints when it stops', async () => {
    const gateway = await gatewayOf();
    const { settling } = gateway.fleet.directory;
    settling.begin();
    const calls = [post(gateway), fetch(`${gateway.url}/v1/models`)];
    await until(() => settling.waiting === 2);
    const closed = gateway.close(0);
    for (const call of calls) expect(await messageOf(await call)).toContain('going down');
    await closed;
  });

  it('holds requests briefly while none of its replicas is ready', async () => {
    const [engine, gateway] = [await engineOf(), await gatewayOf()];
    gateway.routes.put(managedEndpoint([], { models: ['m'] }));
    const calls = [post(gateway), post(gateway, {}, {}, '')];
    await until(() => gateway.inFlight === 2);
    gateway.routes.put(managedEndpoint([managedReplica('a', engine.url)]));
    for (const call of calls) expect((await call).status).toBe(200);
    expect(gateway.endpoints.get('ws/chat')!.inFlight).toBe(0);
  });

  it('reports what it waits for when none becomes ready', async () => {
    const gateway = await gatewayOf({ waitMs: 1 });
    gateway.routes.put(managedEndpoint([], { waitsFor: 'the model is being downloaded' }));
    const answer = await post(gateway);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await messageOf(answer)).toContain('the model is being downloaded');
    expect(gateway.metrics.outcomes.get('no_replica')).toBe(1);
    const never = await gatewayOf({ waitMs: 0 });
    never.routes.put(managedEndpoint([]));
    expect((await post(never)).status).toBe(503);
  });

  it('does not hold requests of disconnected clients, nor when it is removed or the gateway stops', async () => {
    const gateway = await gatewayOf();
    gateway.routes.put(managedEndpoint([]));
    const leave = new AbortController();
    const left = fetch(`${gateway.url}${PATH}/v1/completions`, {
      method: 'POST',
      body: '{"model":"m"}',
      signal: leave.signal,
    });
    await until(() => gateway.inFlight === 1);
    leave.abort();
    await expect(left).rejects.toThrow();
    await until(() => gateway.inFlight === 0);
    const gone = post(gateway);
    await until(() => gateway.inFlight === 1);
    gateway.routes.remove('ws', 'chat');
    expect(await messageOf(await gone)).toContain('has been removed');
    gateway.routes.put(managedEndpoint([]));
    const stopped = post(gateway);
    await until(() => gateway.inFlight === 1);
    const closed = gateway.close(1e6);
    expect((await stopped).status).toBe(503);
    await closed;
  });

  it('sends a request that its only replica failed to the replacement', async () => {
    const [dying, next, gateway] = [await engineOf(), await engineOf(), await gatewayOf()];
    dying.answer = ({ request }) => request.socket.destroy();
    gateway.routes.put(managedEndpoint([managedReplica('a', dying.url)]));
    const call = post(gateway);
    await dying.got(1);
    gateway.routes.put(managedEndpoint([managedReplica('b', next.url)]));
    const answer = await call;
    expect([answer.status, answer.headers.get('x-twinyard-replica')]).toEqual([200, 'b']);
  });

  it('never sends a request to a replica that was removed, not even a retry', async () => {
    const [left, stays, gateway] = [await engineOf(), await engineOf(), await gatewayOf()];
    const both = [managedReplica('a', left.url), managedReplica('b', stays.url)];
    gateway.routes.put(managedEndpoint(both));
    let broken = 0;
    stays.answer = ({ request, response }) => {
      if (broken++ === 0) {
        gateway.routes.put(managedEndpoint([both[1]!, managedReplica('c', stays.url)]));
        request.socket.destroy();
      } else sendJson(response, 200, {});
    };
    for (let i = 0; i < 8; i++) expect((await post(gateway)).status).toBe(200);
    expect(left.seen.length).toBeLessThanOrEqual(1);
    expect(broken).toBeGreaterThan(8 - left.seen.length);
  });

  it('retries on another host after a replica broke off: those beside it may be about to', async () => {
    const [lost, other, gateway] = [await engineOf(), await engineOf(), await gatewayOf()];
    const beside = ['a', 'b', 'c'].map((id) => managedReplica(id, lost.url));
    gateway.routes.put(managedEndpoint([...beside, managedReplica('d', other.url.replace('127.0.0.1', 'localhost'))]));
    lost.answer = ({ request }) => request.socket.destroy();
    for (let i = 0; i < 4; i++) expect((await post(gateway)).headers.get('x-twinyard-replica')).toBe('d');
    expect(lost.seen.length).toBeGreaterThan(0);
    const retried = gateway.ring.latest(100).find(({ attempt }) => attempt === 1)!;
    const reasons = retried.replicas.map(({ removed }) => removed ?? '');
    expect(reasons.sort()).toEqual(['', 'on a host that failed', 'on a host that failed', 'tried before']);
  });

  it('aborts the remaining requests of a replica at its deadline, and another serves them', async () => {
    const [slow, fast, gateway] = [await engineOf(), await engineOf(), await gatewayOf()];
    slow.answer = () => {};
    gateway.routes.put(managedEndpoint([managedReplica('a', slow.url)]));
    const call = post(gateway);
    await slow.got(1);
    gateway.routes.put(managedEndpoint([managedReplica('b', fast.url)]));
    expect(await gateway.routes.drained('ws', 'chat', 'a', 1)).toBe(false);
    expect((await call).headers.get('x-twinyard-replica')).toBe('b');
    expect(await gateway.routes.drained('ws', 'chat', 'a', 1)).toBe(true);
  });

  it('stays when the configuration is reloaded', async () => {
    const [engine, gateway] = [await engineOf(), await gatewayOf()];
    gateway.routes.put(managedEndpoint([managedReplica('a', engine.url)]));
    gateway.reload({ ...gateway.config, drainMs: 7 });
    expect((await post(gateway)).status).toBe(200);
    const policy = DEFAULT_POLICY;
    const wrong = { ...gateway.config, drainMs: 8, endpoints: [{ name: 'ws/chat', policy, replicas: [] }] };
    expect(() => gateway.reload(wrong)).toThrowError(expect.objectContaining({ code: 'ENDPOINT_TAKEN' }));
    expect(gateway.config.drainMs).toBe(7);
  });
});

describe('an endpoint of external upstreams', () => {
  const HEALTH = GATEWAY_DEFAULTS.health;
  const ready = (gateway: Gateway) => until(() => gateway.replicas().every(({ state }) => state === 'ready'));

  it('sends its own credential, path and model name upstream, and reveals none of them', async () => {
    const [engine, gateway] = [await engineOf(), await gatewayOf()];
    const asked: unknown[] = [];
    engine.early = ({ headers, method, url }, response) => {
      if (method !== 'GET') return false;
      asked.push([url, headers.authorization]);
      sendJson(response, 200, { data: [] });
      return true;
    };
    engine.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'a=b', 'x-mine': 'yes' }).end('{}');
    };
    const external = { prefix: '/openai', credential: 'sk-ours', renames: { m: 'big' } };
    gateway.routes.put(managedEndpoint([upstream('u', engine.url, external)]));
    await ready(gateway);
    const answer = await post(gateway, { seed: 1 }, { authorization: 'Bearer mine', cookie: 'c', 'x-api-key': 'mine' });
    expect([answer.status, answer.headers.get('x-mine'), answer.headers.get('set-cookie')]).toEqual([200, 'yes', null]);
    const { body, request } = await engine.got(1);
    expect([request.url, request.headers.authorization]).toEqual(['/openai/chat/completions', 'Bearer sk-ours']);
    expect(JSON.stringify(request.rawHeaders)).not.toContain('mine');
    expect(JSON.parse(body)).toMatchObject({ model: 'big', seed: 1 });
    expect(asked).toEqual([['/openai/models', 'Bearer sk-ours']]);
    await gateway.fleet.scrape();
    expect(gateway.metrics.replicas.failedScrapes.size).toBe(0);
    expect(await (await fetch(`${gateway.adminUrl}/metrics`)).text()).not.toContain('sk-ours');
  });

  it.each([429, 403, 500, 529])('uses the next tier when the first returns %i', async (status) => {
    const [first, spare, gateway] = [await engineOf(), await engineOf(), await gatewayOf()];
    gateway.routes.put(managedEndpoint([upstream('a', first.url), upstream('b', spare.url, { tier: 1 })]));
    await ready(gateway);
    for (let i = 0; i < 3; i++) expect((await post(gateway)).headers.get('x-twinyard-replica')).toBe('a');
    first.answer = ({ response }) => sendJson(response, status, {});
    expect((await post(gateway)).headers.get('x-twinyard-replica')).toBe('b');
    expect(gateway.ring.latest(1)[0]!.replicas[0]).toMatchObject({ id: 'a', removed: 'tried before' });
    gateway.routes.put(managedEndpoint([upstream('a', first.url)]));
    expect((await post(gateway)).status).toBe(status);
  });

  it('uses the next tier while the first cannot be reached or is unhealthy', async () => {
    const [first, spare, gateway] = [await engineOf(), await engineOf(), await gatewayOf()];
    gateway.routes.put(managedEndpoint([upstream('a', first.url), upstream('b', spare.url, { tier: 1 })]));
    await ready(gateway);
    await first.kill();
    expect((await post(gateway)).headers.get('x-twinyard-replica')).toBe('b');
    gateway.replicas()[0]!.unhealthy('gone', 1);
    expect((await post(gateway)).headers.get('x-twinyard-replica')).toBe('b');
    expect(gateway.ring.latest(1)[0]).toMatchObject({ attempt: 0, replicas: [{ removed: 'unhealthy: gone' }, {}] });
    await first.listen(0);
  });

  it('does not pass on errors about its own credential', async () => {
    const [engine, gateway] = [await engineOf(), await gatewayOf()];
    gateway.routes.put(managedEndpoint([upstream('a', engine.url, { credential: 'sk-ours' })]));
    await ready(gateway);
    engine.answer = ({ response }) => sendJson(response, 401, { error: 'Incorrect API key provided: sk-ours' });
    const answer = await post(gateway);
    expect([answer.status, await messageOf(answer)]).toEqual([502, 'Replica a broke off: it refuses the credential.']);
  });

  it('is checked when requests fail, and reports their errors', async () => {
    const [engine, gateway] = [await engineOf(), await gatewayOf({ health: { ...HEALTH, intervalMs: 1e6 } })];
    gateway.routes.put(managedEndpoint([upstream('a', engine.url)]));
    await ready(gateway);
    const [replica] = gateway.replicas();
    const state = () => gateway.routes.states('ws', 'chat')[0]!;
    expect(state()).toMatchObject({ state: 'ready', problem: '' });
    await engine.kill();
    // Long ago for checks at most once a second.
    replica!.checkedMs -= 2000;
    expect((await post(gateway)).status).toBe(502);
    await until(() => state().problem === 'ECONNREFUSED');
    replica!.checkedMs -= 2000;
    await post(gateway);
    await until(() => state().state === 'unhealthy');
    await engine.listen(Number(new URL(engine.url).port));
    await gateway.fleet.check();
    expect(state()).toMatchObject({ state: 'ready', problem: '' });
  });

  it('reports failed requests although its list of models is available, until one succeeds', async () => {
    const config = { breaker: { failures: 2, share: 1, windowMs: 0, openMs: 0 } };
    const [engine, gateway] = [await engineOf(), await gatewayOf(config)];
    gateway.routes.put(managedEndpoint([upstream('a', engine.url)]));
    await ready(gateway);
    const problem = () => gateway.routes.states('ws', 'chat')[0]!.problem;
    engine.answer = ({ response }) => sendJson(response, 500, {});
    await post(gateway, { seed: 1 });
    expect(problem()).toBe('');
    await post(gateway, { seed: 2 });
    expect(problem()).toBe('fails requests: status 500');
    await gateway.fleet.check();
    expect(problem()).toBe('fails requests: status 500');
    engine.answer = ({ response }) => sendJson(response, 200, {});
    await post(gateway, { seed: 3 });
    expect(problem()).toBe('');
  });

  it.each([401, 403])(
    'says that its credential is refused when requests get %i, until it has another',
    async (status) => {
      const [engine, gateway] = [await engineOf(), await gatewayOf({ health: { ...HEALTH, intervalMs: 1e6 } })];
      let checks = 0;
      engine.early = ({ method }) => {
        if (method === 'GET') checks++;
        return false;
      };
      engine.answer = ({ request, response }) =>
        sendJson(response, request.headers.authorization === 'Bearer right' ? 200 : status, {});
      gateway.routes.put(managedEndpoint([upstream('a', engine.url, { credential: 'wrong' })]));
      await ready(gateway);
      const state = () => gateway.routes.states('ws', 'chat')[0]!;
      await post(gateway);
      expect(state()).toMatchObject({
        state: 'ready',
        problem: `refuses the credential: requests get ${status}`,
      });
      await until(() => checks === 2);
      // It is not checked again for every request.
      await post(gateway);
      await gateway.fleet.check();
      expect([state().problem, checks]).toEqual([`refuses the credential: requests get ${status}`, 2]);
      gateway.routes.put(managedEndpoint([upstream('a', engine.url, { credential: 'right' })]));
      expect(state().problem).toBe('');
      await until(() => checks === 3);
      expect((await post(gateway)).status).toBe(200);
      expect(state().problem).toBe('');
    },
  );

  it('shares requests by weight, whatever the policy', async () => {
    const [one, two, off, gateway] = [await engineOf(), await engineOf(), await engineOf(), await gatewayOf()];
    const shares = [
      upstream('a', one.url, { weight: 3 }),
      upstream('b', two.url),
      upstream('c', off.url, { weight: 0 }),
    ];
    gateway.routes.put(managedEndpoint(shares));
    await ready(gateway);
    for (let i = 0; i < 40; i++) expect((await post(gateway)).status).toBe(200);
    expect([one.seen.length + two.seen.length, off.seen.length]).toEqual([40, 0]);
    expect(one.seen.length).toBeGreaterThan(two.seen.length);
    expect(two.seen.length).toBeGreaterThan(0);
  });
});
