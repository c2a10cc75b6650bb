import { describe, expect, test } from 'vitest';
import { serveApi } from '../src/api/api-server.js';
import { FakePlane } from '../src/control/reconcile/fake-plane.fixture.js';
import type { GatewayConfig } from '../src/gateway/config/gateway-config.js';
import { readGatewayConfig } from '../src/gateway/config/read-gateway-config.js';
import { configFor, FakeEngine, type Seen, sendJson, until } from '../src/gateway/fake-engine.fixture.js';
import { Gateway } from '../src/gateway/gateway.js';
import { installPatientShadows } from '../src/twin/shadow/patient-shadows.fixture.js';
import { afterwards, expectIdle } from './support/gateway-fixture.js';

/*
 * Shadows of the configuration and of declared endpoints come, change and go while requests are under way: nothing restarts, and
 * the requests end as they would have.
 */

/** An engine that keeps requests with the prompt `slow` until they are released; others are served at once. */
class SlowEngine {
  readonly #held: Seen[] = [];
  #isReleased = false;

  private constructor(readonly engine: FakeEngine) {}

  static async start(): Promise<SlowEngine> {
    const engine = await FakeEngine.start();
    const slow = new SlowEngine(engine);
    engine.answer = (seen) => {
      if (slow.#isReleased || !seen.body.includes('"slow"')) slow.#serve(seen);
      else slow.#held.push(seen);
    };
    afterwards(() => engine.kill());
    return slow;
  }

  get held(): number {
    return this.#held.length;
  }

  release(): void {
    this.#isReleased = true;
    for (const seen of this.#held.splice(0)) this.#serve(seen);
  }

  #serve({ body, response }: Seen): void {
    sendJson(response, 200, { choices: [], prompt: JSON.parse(body).prompt });
  }
}

async function started(config: GatewayConfig, configAgain = () => config): Promise<Gateway> {
  const gateway = new Gateway(config, configAgain);
  installPatientShadows(gateway);
  gateway.api = serveApi(gateway);
  await gateway.start();
  afterwards(() => gateway.close(0));
  return gateway;
}

const post = (url: string, id: string, prompt = 'quick') =>
  fetch(`${url}/v1/completions`, {
    method: 'POST',
    headers: { 'x-request-id': id },
    body: JSON.stringify({ model: 'm', prompt }),
  });

/** The shadows of an endpoint, as `name policy`. */
function shadowsOf(gateway: Gateway, endpoint: string): string[] {
  return gateway.fleet.shadows!.of(gateway.endpoints.get(endpoint)!).map(({ name, policy }) => `${name} ${policy}`);
}

/** Serves a request and returns which shadows decided about it. */
async function decidedBy(gateway: Gateway, url: string, id: string, shadows: number): Promise<string[]> {
  const response = await post(url, id);
  await response.text();
  expect(response.status).toBe(200);
  const found = () => gateway.ring.find(id)!.shadows;
  await until(() => found().length >= shadows);
  return found().map(({ policy, shadow }) => `${shadow} ${policy}`);
}

describe('shadows change without a restart, and requests under way are served', () => {
  test('when the spec of a declared endpoint changes', async () => {
    const slow = await SlowEngine.start();
    const gateway = await started(configFor([], { endpoints: [] }));
    const plane = await FakePlane.open();
    const put = plane.routes.put.bind(plane.routes);
    // Replicas that the fake runners start are all the same engine.
    plane.routes.put = (endpoint) => {
      put(endpoint);
      const replicas = endpoint.replicas.map((one) => ({ ...one, url: slow.engine.url, models: ['m'] }));
      gateway.routes.put({ ...endpoint, replicas });
    };
    const declare = (shadow: string) => plane.chat(`  replicas: 2\n  routing: {policy: round-robin}\n${shadow}`);
    const url = `${gateway.url}/workspace/default/endpoint/chat`;
    const NAME = 'default/chat';
    await declare('');
    await plane.ready();
    await until(() => gateway.endpoints.get(NAME)!.replicas.every(({ state }) => state === 'ready'));
    expect(shadowsOf(gateway, NAME)).toEqual([]);
    const underWay = [post(url, 'slow-0', 'slow'), post(url, 'slow-1', 'slow')];
    await until(() => slow.held >= 2);

    await declare('  shadow: [{policy: lmetric}]\n');
    expect(await decidedBy(gateway, url, 'one', 1)).toEqual(['lmetric lmetric']);
    await declare('  shadow: [{name: lmetric, policy: unified}, {policy: least-loaded}]\n');
    expect(await decidedBy(gateway, url, 'two', 2)).toEqual(['lmetric unified', 'least-loaded least-loaded']);
    underWay.push(post(url, 'slow-2', 'slow'));
    await until(() => slow.held >= 3);
    await declare('');
    expect(shadowsOf(gateway, NAME)).toEqual([]);
    expect(await decidedBy(gateway, url, 'three', 0)).toEqual([]);

    slow.release();
    for (const response of await Promise.all(underWay)) {
      expect([response.status, await response.json()]).toEqual([200, { choices: [], prompt: 'slow' }]);
    }
    expect([plane.runners.started.length, plane.runners.stopped, plane.faults]).toEqual([2, [], []]);
    await until(() => gateway.inFlight === 0);
    expectIdle(gateway);
    expect(gateway.metrics.faults).toBe(0);
  });

  test('when a configuration is reloaded; those that were added stay', async () => {
    const slow = await SlowEngine.start();
    const read = (shadow: string) => {
      const replicas = ['left', 'right'].map((id) => `  - {url: "${slow.engine.url}", id: ${id}}\n`).join('');
      const head = `listen: {port: 0}\nadmin: {port: 0}\nreplicas:\n${replicas}`;
      return readGatewayConfig(`${head}policy:\n  routing: {policy: round-robin}\n${shadow}`, 'test.yaml');
    };
    let file = read('');
    const gateway = await started(file, () => file);
    await until(() => gateway.replicas().every(({ models, state }) => state === 'ready' && models.has('m')));
    const headers = { authorization: `Bearer ${gateway.adminToken}` };
    const api = (method: string, path: string, body?: string) =>
      fetch(`${gateway.adminUrl}/api/v1/${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
    const reload = async (shadow: string) => {
      file = read(shadow);
      expect((await api('POST', 'config/reload')).status).toBe(200);
    };
    const added = await api('PUT', 'workspaces/default/endpoints/default/shadows/mine', '{"policy":"lmetric"}');
    expect(added.status).toBe(200);
    const underWay = post(gateway.url, 'slow-0', 'slow');
    await until(() => slow.held >= 1);

    await reload('  shadow: [{policy: unified}]\n');
    expect(await decidedBy(gateway, gateway.url, 'one', 2)).toEqual(['unified unified', 'mine lmetric']);
    const before = gateway.fleet.shadows!.of(gateway.endpoints.get('default')!);
    await reload('  shadow: [{policy: unified}, {policy: random}]\n');
    expect(shadowsOf(gateway, 'default')).toEqual(['mine lmetric', 'random random', 'unified unified']);
    const after = gateway.fleet.shadows!.of(gateway.endpoints.get('default')!);
    expect(after.find(({ name }) => name === 'unified')).toEqual(before.find(({ name }) => name === 'unified'));
    await reload('  shadow: [{name: unified, policy: sticky}]\n');
    expect(shadowsOf(gateway, 'default')).toEqual(['mine lmetric', 'unified sticky']);
    await reload('');
    expect(await decidedBy(gateway, gateway.url, 'two', 1)).toEqual(['mine lmetric']);

    slow.release();
    expect((await underWay).status).toBe(200);
    await until(() => gateway.inFlight === 0);
    expectIdle(gateway);
    expect(gateway.metrics.faults).toBe(0);
  });
});
