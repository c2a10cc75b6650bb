import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { GatewayConfig } from '../../../gateway/config/gateway-config.js';
import { DecisionReplay } from '../../../gateway/decisions/replay-decisions.js';
import { configFor, FakeEngine, until } from '../../../gateway/fake-engine.fixture.js';
import { managedEndpoint, managedReplica } from '../../../gateway/fleet/managed.fixture.js';
import { Gateway } from '../../../gateway/gateway.js';
import { installPatientShadows } from '../../../twin/shadow/patient-shadows.fixture.js';
import { ApiHost } from '../../api-host.js';
import { serveApi } from '../../api-server.js';
import { respond } from '../../respond.js';

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const SHADOW = { name: 'least', policy: 'least-loaded', options: { tie_break: 'first' } };

/** A gateway with a file's endpoint `default` of two replicas, which has a shadow, and the managed endpoint `ws/chat`. */
async function gatewayOf(change: Partial<GatewayConfig> = {}): Promise<Gateway> {
  const engines = [await FakeEngine.start(), await FakeEngine.start()];
  for (const engine of engines) opened.push(() => engine.kill());
  const config = configFor(engines, change);
  const endpoints = config.endpoints.map((one) => ({ ...one, policy: { ...one.policy, shadows: [SHADOW] } }));
  const gateway = new Gateway({ ...config, endpoints });
  installPatientShadows(gateway);
  gateway.api = serveApi(gateway);
  await gateway.start();
  opened.push(() => gateway.close(0));
  gateway.routes.put(managedEndpoint([managedReplica('a', engines[0]!.url)]));
  await until(() => gateway.replicas().every(({ state }) => state === 'ready'));
  return gateway;
}

async function ask(gateway: Gateway, line: string, body?: unknown) {
  const [method, path] = line.split(' ') as [string, string];
  const response = await fetch(`${gateway.adminUrl}${path.startsWith('/') ? '' : '/api/v1/'}${path}`, {
    method,
    headers: { authorization: `Bearer ${gateway.adminToken}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  // biome-ignore lint/suspicious/noExplicitAny: whatever the API returns
  return { status: response.status, body: (text.startsWith('{') ? JSON.parse(text) : text) as any };
}

async function complete(gateway: Gateway, id: string): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/completions`, {
    method: 'POST',
    headers: { 'x-request-id': id, 'x-slo-class': 'batch' },
    body: JSON.stringify({ model: 'm', prompt: 'hello' }),
  });
  expect(response.status).toBe(200);
  await response.text();
  await until(() => (gateway.ring.find(id)?.shadows.length ?? 0) > 0);
}

const SHADOWS = 'workspaces/default/endpoints/default/shadows';

describe('shadow policies', () => {
  it('follow live requests: explained, counted and listed', async () => {
    const gateway = await gatewayOf();
    await complete(gateway, 'one');
    const { shadows } = (await ask(gateway, 'GET decisions/one')).body;
    expect(shadows).toMatchObject([{ shadow: 'least', policy: 'least-loaded', replica: 'r0', outcome: 'same' }]);
    const listed = (await ask(gateway, `GET ${SHADOWS}`)).body.items[0];
    expect(listed).toMatchObject({
      ...SHADOW,
      source: 'configuration',
      serving_policy: 'round-robin',
      dropped: 0,
      on_real_placements: {
        agreement: 1,
        classes: [{ slo_class: 'batch', same: 1, tied: 0, different: 0, forced: 0 }],
      },
      on_own_placements: { agreement: 1 },
      predicted_ttft: { decisions: 0, mean_difference_ms: null },
    });
    const live = (await ask(gateway, 'GET workspaces/default/endpoints/default/live')).body;
    expect(live.shadows).toMatchObject([{ name: 'least' }]);
    expect(live.policy.shadow).toEqual([SHADOW]);
    const metrics = (await ask(gateway, 'GET /metrics')).body;
    const labels = 'endpoint="default",shadow="least"';
    expect(metrics).toContain(
      `twinyard_shadow_decisions_total{${labels},placements="real",slo_class="batch",outcome="same"} 1\n`,
    );
    expect(metrics).toContain(`twinyard_shadow_agreement_ratio{${labels},slo_class="batch"} 1\n`);
    expect(metrics).toContain(`twinyard_shadow_dropped_total{${labels}} 0\n`);
  });

  it('are added, changed and removed without a restart, also for a declared endpoint', async () => {
    const gateway = await gatewayOf();
    for (const all of [SHADOWS, 'workspaces/ws/endpoints/chat/shadows']) {
      expect(await ask(gateway, `PUT ${all}/mine`, { policy: 'lmetric' })).toMatchObject({
        status: 200,
        body: { name: 'mine', policy: 'lmetric', source: 'added' },
      });
      expect((await ask(gateway, `PUT ${all}/mine`, { policy: 'unified' })).body.policy).toBe('unified');
      expect((await ask(gateway, `DELETE ${all}/mine`)).body).toMatchObject({ name: 'mine', policy: 'unified' });
      expect((await ask(gateway, `DELETE ${all}/mine`)).status).toBe(404);
    }
    const conflict = { status: 409, body: { error: { code: 'SHADOW_CONFIGURED' } } };
    expect(await ask(gateway, `DELETE ${SHADOWS}/least`)).toMatchObject(conflict);
    expect(await ask(gateway, `PUT ${SHADOWS}/least`, { policy: 'lmetric' })).toMatchObject(conflict);
  });

  it('stay when the policy that serves is swapped, and are replaced by a policy that lists others', async () => {
    const gateway = await gatewayOf();
    const policy = 'PUT workspaces/default/endpoints/default/policy';
    const names = (body: { shadows: { name: string }[] }) => body.shadows.map(({ name }) => name);
    expect(names((await ask(gateway, policy, { policy: 'lmetric' })).body)).toEqual(['least']);
    expect(names((await ask(gateway, policy, { routing: { policy: 'unified' } })).body)).toEqual(['least']);
    const listed = { routing: { policy: 'unified' }, shadow: [{ policy: 'random' }] };
    expect(names((await ask(gateway, policy, listed)).body)).toEqual(['random']);
  });

  it('are refused with a reason', async () => {
    const gateway = await gatewayOf();
    const put = async (body: object, name = 'x') => {
      const { body: given, status } = await ask(gateway, `PUT ${SHADOWS}/${name}`, body);
      return [status, given.error.code];
    };
    expect(await put({ policy: 'nothing' })).toEqual([400, 'UNKNOWN_ROUTING_POLICY']);
    expect(await put({ policy: 'lmetric', options: { nothing: 1 } })).toEqual([400, 'UNKNOWN_POLICY_OPTION']);
    expect(await put({ policy: 'lmetric', options: { block_size: 8 } })).toEqual([400, 'SHADOW_INVALID']);
    expect(await put({ policy: 'lmetric', name: 'y' })).toEqual([400, 'API_PATH']);
    expect((await put({ policy: 'lmetric' }, 'Not%20a%20name'))[0]).toBe(400);
    expect((await ask(gateway, 'GET workspaces/default/endpoints/none/shadows')).status).toBe(404);
  });

  it('are read by viewers and changed by operators, of the same workspace', async () => {
    const gateway = await gatewayOf();
    const host = new ApiHost({ gateway, store: gateway.store, control: null });
    const as = async (role: 'viewer' | 'operator' | 'admin', method: string, path: string, workspace = 'default') => {
      const call = { query: new URLSearchParams(), header: () => undefined, signal: new AbortController().signal };
      const body = async () => (method === 'PUT' ? '{"policy":"lmetric"}' : '');
      const caller = { name: 'k', role: 'none' as const, workspaces: new Map([[workspace, role]]) };
      return (await respond(host, caller, { ...call, method, path: `/api/v1/${path}`, body })).status;
    };
    expect(await as('viewer', 'GET', SHADOWS)).toBe(200);
    expect(await as('viewer', 'PUT', `${SHADOWS}/x`)).toBe(403);
    expect(await as('operator', 'PUT', `${SHADOWS}/x`)).toBe(200);
    expect(await as('viewer', 'DELETE', `${SHADOWS}/x`)).toBe(403);
    for (const role of ['viewer', 'operator', 'admin'] as const) {
      expect(await as(role, 'GET', SHADOWS, 'ws')).toBe(403);
      expect(await as(role, 'PUT', `${SHADOWS}/x`, 'ws')).toBe(403);
      expect(await as(role, 'PUT', `${SHADOWS}/y`, 'ws')).toBe(403);
      expect(await as(role, 'DELETE', `${SHADOWS}/x`, 'ws')).toBe(403);
      expect(await as(role, 'GET', 'workspaces/ws/endpoints/default/shadows', 'ws')).toBe(404);
    }
    const names = gateway.fleet.shadows!.of(gateway.endpoints.get('default')!).map(({ name }) => name);
    expect(names).toEqual(['least', 'x']);
    expect(await as('operator', 'DELETE', `${SHADOWS}/x`)).toBe(200);
  });

  it('are in the decision log, which is replayed as before', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'twinyard-shadow-'));
    opened.push(async () => rmSync(folder, { recursive: true }));
    const decisionLog = join(folder, 'decisions.jsonl');
    const gateway = await gatewayOf({ decisionLog });
    for (const id of ['one', 'two', 'three']) await complete(gateway, id);
    gateway.log!.flush();
    const lines = readFileSync(decisionLog, 'utf8').trimEnd().split('\n');
    const logged = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'shadows');
    expect(logged).toMatchObject([{ id: 'one' }, { id: 'two' }, { id: 'three' }]);
    expect(logged[0].shadows).toMatchObject([{ shadow: 'least', replica: 'r0', ownReplica: 'r0' }]);
    const replay = new DecisionReplay(decisionLog);
    lines.forEach((line, i) => {
      replay.line(line, i + 1);
    });
    expect([replay.decisions, replay.differences]).toEqual([3, []]);
  });
});
