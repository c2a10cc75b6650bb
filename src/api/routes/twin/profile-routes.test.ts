import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { ChangeFeed } from '../../../control/change-feed.js';
import { ControlStore } from '../../../control/store/control-store.js';
import { installDefaults } from '../../../control/store/install-defaults.js';
import { configFor, FakeEngine, until } from '../../../gateway/fake-engine.fixture.js';
import { managedEndpoint, managedReplica } from '../../../gateway/fleet/managed.fixture.js';
import { Gateway } from '../../../gateway/gateway.js';
import { fakeProfileDocument } from '../../../gateway/prediction/profile-document.fixture.js';
import { finishedRequest } from '../../../gateway/request/finished-request.fixture.js';
import { SecretBox } from '../../../store/resources/secrets.js';
import type { EngineProfilesParts } from '../../../twin/profiles/engine-profiles.js';
import { gatewayProfiles } from '../../../twin/profiles/start-profiles.js';
import { ApiHost } from '../../api-host.js';
import { serveApi } from '../../api-server.js';
import { FakeRunner } from '../../fake-runner.fixture.js';
import { respond } from '../../respond.js';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const CHAT = '/api/v1/workspaces/ws/endpoints/chat';
const PIN = `${CHAT}/profiles/vllm/pin`;

/** A gateway with a store and the endpoint `ws/chat`, declared and served by one engine. */
async function gatewayOf() {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-profile-routes-'));
  opened.push(() => rmSync(folder, { recursive: true }));
  const engine = await FakeEngine.start();
  opened.push(() => engine.kill());
  const gateway = new Gateway(configFor([engine], { store: join(folder, 'x.db'), dataDir: folder, endpoints: [] }));
  await gateway.start();
  opened.push(() => gateway.close(0));
  const store = new ControlStore(gateway.store!, SecretBox.open(join(folder, 'secrets.key')));
  await installDefaults(store);
  const feed = await ChangeFeed.open(store.resources);
  opened.push(() => feed.close());
  gateway.api = serveApi(
    gateway,
    Promise.resolve({ host: { store, feed, runner: new FakeRunner(), drain: () => true } }),
  );
  await ask(gateway, 'POST /api/v1/workspaces', { kind: 'Workspace', metadata: { name: 'ws' }, spec: {} });
  const spec = { engine: { name: 'emulator' }, model: { name: 'qwen/qwen3-14b' }, replicas: 0 };
  await ask(gateway, 'POST /api/v1/workspaces/ws/endpoints', {
    ...{ kind: 'Endpoint', metadata: { name: 'chat', workspace: 'ws' }, spec },
  });
  gateway.routes.put(managedEndpoint([managedReplica('a', engine.url)]));
  await until(() => gateway.replicas().every(({ state }) => state === 'ready'));
  return gateway;
}

/** Kept by hand: ticks are the test's. */
function profilesOf(gateway: Gateway, change: Partial<EngineProfilesParts> = {}) {
  const profiles = gatewayProfiles(gateway, change);
  opened.push(() => profiles.close());
  return profiles;
}

async function ask(gateway: Gateway, line: string, body?: object) {
  const [method, path] = line.split(' ') as [string, string];
  const response = await fetch(`${gateway.adminUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${gateway.adminToken}` },
    ...(body === undefined ? {} : { body: JSON.stringify({ apiVersion: 'twinyard/v1', ...body }) }),
  });
  const text = await response.text();
  expect(response.status, `${line}: ${text}`).toBeLessThan(300);
  // biome-ignore lint/suspicious/noExplicitAny: whatever the API returns
  return (text.startsWith('{') ? JSON.parse(text) : text) as any;
}

it('lets viewers read profiles, operators of the workspace pin them, and others neither', async () => {
  const gateway = await gatewayOf();
  profilesOf(gateway);
  const host = new ApiHost({ gateway, store: gateway.store, control: null });
  const as = async (role: 'viewer' | 'operator', workspace: string, method: string, path: string) => {
    const call = { query: new URLSearchParams(), header: () => undefined, signal: new AbortController().signal };
    const body = async () => (method === 'PUT' ? JSON.stringify({ pinned: true, profile: fakeProfileDocument() }) : '');
    const caller = { name: 'k', role: 'none' as const, workspaces: new Map([[workspace, role]]) };
    return (await respond(host, caller, { ...call, method, path, body })).status;
  };
  const pinned = () => gateway.traffic.profiles!.states('ws/chat')[0]!.isPinned;
  expect(await as('viewer', 'ws', 'GET', `${CHAT}/profiles/vllm`)).toBe(200);
  expect(await as('viewer', 'ws', 'PUT', PIN)).toBe(403);
  expect(await as('operator', 'other', 'PUT', PIN)).toBe(403);
  expect(await as('operator', 'other', 'GET', `${CHAT}/profiles/vllm`)).toBe(403);
  expect(pinned()).toBe(false);
  expect(await as('operator', 'ws', 'PUT', PIN)).toBe(200);
  expect(pinned()).toBe(true);
});

it('reports a drift in the events of the endpoint, the metrics and the status', async () => {
  const gateway = await gatewayOf();
  let nowUs = 0;
  const profiles = profilesOf(gateway, { nowUs: () => nowUs, makeFit: () => Promise.reject(new Error('not needed')) });
  const { body } = { body: { pinned: true, profile: fakeProfileDocument() } };
  const pinned = await fetch(`${gateway.adminUrl}${PIN}`, {
    ...{ method: 'PUT', headers: { authorization: `Bearer ${gateway.adminToken}` }, body: JSON.stringify(body) },
  });
  expect(pinned.status).toBe(200);
  const traffic = gateway.traffic.observed.of('ws/chat', 'vllm')!;
  const run = async (minutes: number, slower: number) => {
    for (let i = 0; i < 30 * minutes; i++) {
      nowUs += 2e6;
      const dispatchedUs = nowUs - 1e6;
      traffic.finished(
        finishedRequest({
          ...{ dispatchedUs, firstTokenUs: dispatchedUs + 50_000 * slower, outputTokens: 20 },
          ...{ endedUs: dispatchedUs + 240_000 * slower, predictedTtftUs: 50_000, predictedItlUs: 10_000 },
        }),
      );
      if (i % 15 === 14) await profiles.tick();
    }
  };
  await run(5, 1);
  await run(12, 1.6);
  const drifts = async () => {
    const { items } = await ask(gateway, 'GET /api/v1/events?workspace=ws&kind=Endpoint&name=chat');
    return (items as { reason: string; type: string; message: string }[]).filter(
      ({ reason }) => reason === 'ProfileDrift',
    );
  };
  let found = await drifts();
  while (found.length === 0) found = await drifts();
  expect(found).toMatchObject([{ type: 'warning', message: expect.stringContaining('look at the host') }]);
  const metrics = (await ask(gateway, 'GET /metrics')) as string;
  const labels = 'endpoint="ws/chat",engine="vllm"';
  for (const metric of ['ttft', 'itl', 'e2e']) {
    expect(metrics).toMatch(
      new RegExp(`twinyard_prediction_error\\{${labels},metric="${metric}",stat="p50"\\} 0\\.37`),
    );
  }
  expect(metrics).toContain(`twinyard_profile_drifts_total{${labels},reason="host"} 1\n`);
  expect(metrics).toContain(`twinyard_profile_age_seconds{${labels}} `);
  const { profiles: shown } = await ask(gateway, `GET ${CHAT}/live`);
  expect(shown).toMatchObject([
    { engine: 'vllm', pinned: true, drift: expect.stringContaining('look at the host'), age_s: expect.any(Number) },
  ]);
  const ref = { kind: 'Endpoint', workspace: 'ws', name: 'chat' };
  const { resources } = gateway.store!;
  const { uid } = (await resources.get(ref))!;
  await resources.change('test', (tx) => tx.putStatus(ref, uid, { phase: 'Running', observed_generation: 1 }));
  const { status } = await ask(gateway, `GET ${CHAT}`);
  expect(status.profiles).toEqual([
    {
      ...{ engine: 'vllm', name: 'tiny', used: true, pinned: true, fitted_at: expect.stringMatching(/^\d{4}-.*Z$/) },
      ...{ score: null, drift: expect.stringContaining('look at the host'), problem: expect.any(String) },
    },
  ]);
});
