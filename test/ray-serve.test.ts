import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ServeDetails } from '../src/ray/serve/found-replicas.js';
import { DrillClients } from './support/drill-clients.js';
import { RayLab } from './support/ray-lab.js';
import { RecordingProxy } from './support/recording-proxy.js';
import { type ServeProcess, serveProcess } from './support/serve-process.js';

/** The command of an installed Ray: `npm run test:ray` installs one. Skipped without it. */
const RAY = process.env.TWINYARD_TEST_RAY;
const ADDRESS = '127.0.0.6';
const PROXY_PORT = 31_650;
/** The folder of the application. */
const SUPPORT = fileURLToPath(new URL('support', import.meta.url));
const RECORDED = fileURLToPath(new URL('../src/ray/serve/recorded-details.json', import.meta.url));
vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 });

/**
 * As `serve deploy` does.
 * @param version another one is a rolling update
 */
async function deploy(lab: RayLab, replicas: number | 'none', version = 'v1'): Promise<void> {
  const deployments = [{ name: 'Model', num_replicas: replicas, graceful_shutdown_timeout_s: 20 }];
  const runtime_env = { env_vars: { VERSION: version } };
  const chat = { name: 'chat', route_prefix: '/', import_path: 'serve_app:app', runtime_env, deployments };
  const config = {
    http_options: { host: '0.0.0.0', port: PROXY_PORT },
    applications: replicas === 'none' ? [] : [chat],
  };
  const headers = { 'content-type': 'application/json' };
  const path = `${lab.url}/api/serve/applications/`;
  // The dashboard takes 'fetch' for a browser, and refuses it.
  const { body, statusCode } = await request(path, { method: 'PUT', headers, body: JSON.stringify(config) });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(text);
}

/** Ports of replicas, and a shorter drain than half a minute. */
const DIRECT = {
  RAY_SERVE_ENABLE_DIRECT_INGRESS: '1',
  RAY_SERVE_DIRECT_INGRESS_MIN_HTTP_PORT: '31700',
  RAY_SERVE_DIRECT_INGRESS_MAX_HTTP_PORT: '31799',
  RAY_SERVE_DIRECT_INGRESS_MIN_DRAINING_PERIOD_S: '10',
};

describe.skipIf(RAY === undefined)('replicas of a real Ray Serve', () => {
  let lab: RayLab;
  let proxy: RecordingProxy;

  beforeAll(async () => {
    lab = await RayLab.start(RAY!, { address: ADDRESS, gpus: 0 }, { ...DIRECT, PYTHONPATH: SUPPORT });
    proxy = await RecordingProxy.start(lab.url);
  });

  afterAll(async () => {
    await proxy?.close();
    await lab?.stop();
  });

  /** Resolves with the replicas of the gateway when they are those that Serve publishes. */
  async function follows(serve: ServeProcess, count: number): Promise<string[]> {
    for (;;) {
      const [ready, published] = [await readyIds(serve), await publishedIds(lab)];
      if (published.length === count && ready.join() === published.join()) return ready;
      await pause(100);
    }
  }

  it('are followed as they come, drain, die and go, with one path that is only read', async () => {
    await deploy(lab, 2);
    const serve = await serveProcess(['--ray-serve', `${proxy.url},app=chat`, '--routing-policy', 'round-robin']);
    await follows(serve, 2);
    const clients = new DrillClients(serve.url, 4);
    await clients.untilMore(20);
    const first = await readyIds(serve);
    expect(first.every((id) => /^chat\.Model\.\w+$/.test(id))).toBe(true);
    await deploy(lab, 4);
    const four = await follows(serve, 4);
    const before = clients.ends.length;
    await clients.untilMore(60);
    const served = new Set(clients.ends.slice(before).map(({ replica }) => replica));
    expect(four.filter((id) => !served.has(id))).toEqual([]);
    await deploy(lab, 4, 'v2');
    await until(async () => (await publishedIds(lab)).every((id) => !four.includes(id)));
    await follows(serve, 4);
    await deploy(lab, 2, 'v2');
    const [killed] = await follows(serve, 2);
    await clients.untilMore(20);
    // None is lost by replicas that drain.
    expect(clients.counts).toEqual({ complete: clients.ends.length });

    process.kill(await pidOf(lab, killed!), 'SIGKILL');
    await until(async () => !(await publishedIds(lab)).includes(killed!));
    await follows(serve, 2);
    await clients.untilMore(20);
    await clients.rest();
    const isOfKilled = clients.ends.every(({ end, replica }) => end !== 'told' || replica === killed);
    expect([isOfKilled, Object.keys(clients.counts).filter((end) => !['complete', 'told'].includes(end))]).toEqual([
      true,
      [],
    ]);

    // Without the dashboard, what was seen last is served.
    lab.signalDashboard('SIGSTOP');
    try {
      await until(async () => (await metrics(serve)).includes('twinyard_discovery_up{endpoint="default"} 0'));
      expect(await statusOf(serve)).toBe(200);
    } finally {
      lab.signalDashboard('SIGCONT');
    }
    await until(async () => (await metrics(serve)).includes('twinyard_discovery_up{endpoint="default"} 1'));

    await deploy(lab, 'none');
    await until(async () => serve.said().includes("application 'chat' is not deployed"));
    expect(await readyIds(serve)).toEqual([]);
    console.log(`Ray Serve: ${JSON.stringify(clients.counts)}`);
    expect(new Set(proxy.exchanges.map(({ method, path }) => `${method} ${path}`))).toEqual(
      new Set(['GET /api/serve/applications/']),
    );
    if (process.env.TWINYARD_RECORD_RAY !== undefined) writeFileSync(RECORDED, recorded(proxy));
  });
});

describe.skipIf(RAY === undefined)('a Ray Serve without direct ingress', () => {
  it('publishes proxies, which is reported with what to set', async () => {
    const lab = await RayLab.start(RAY!, { address: ADDRESS, gpus: 0 }, { PYTHONPATH: SUPPORT });
    try {
      await deploy(lab, 1);
      const serve = await serveProcess(['--ray-serve', lab.url]);
      await until(async () => serve.said().includes('RAY_SERVE_ENABLE_DIRECT_INGRESS=1'));
      expect(await readyIds(serve)).toEqual([]);
    } finally {
      await lab.stop();
    }
  });
});

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(100);
}

const admin = async ({ adminUrl, token }: ServeProcess, path: string) =>
  (await fetch(`${adminUrl}${path}`, { headers: { authorization: `Bearer ${token}` } })).text();

const metrics = (serve: ServeProcess) => admin(serve, '/metrics');

async function readyIds(serve: ServeProcess): Promise<string[]> {
  const { items } = JSON.parse(await admin(serve, '/api/v1/replicas')) as { items: { id: string; state: string }[] };
  return items
    .filter(({ state }) => state === 'ready')
    .map(({ id }) => id)
    .sort();
}

async function statusOf(serve: ServeProcess): Promise<number> {
  const body = JSON.stringify({ model: 'tiny', max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] });
  const response = await fetch(`${serve.url}/v1/chat/completions`, { method: 'POST', body });
  await response.text();
  return response.status;
}

async function publishedIds(lab: RayLab): Promise<string[]> {
  const details = (await (await fetch(`${lab.url}/api/serve/applications/`)).json()) as ServeDetails;
  const names = (details.target_groups ?? []).flatMap(({ targets = [] }) => targets.map(({ name }) => String(name)));
  return names.map((name) => name.replace('SERVE_REPLICA::', '').replaceAll('#', '.')).sort();
}

/** The process of a replica, as Serve lists it. */
async function pidOf(lab: RayLab, id: string): Promise<number> {
  const details = (await (await fetch(`${lab.url}/api/serve/applications/`)).json()) as {
    applications: Record<string, { deployments: Record<string, { replicas: { replica_id: string; pid: number }[] }> }>;
  };
  const { replicas } = details.applications.chat!.deployments.Model!;
  return replicas.find(({ replica_id }) => id.endsWith(`.${replica_id}`))!.pid;
}

/** Responses whose targets differ from those before, without figures of the controller's own health. */
function recorded({ exchanges }: RecordingProxy): string {
  const kept: string[] = [];
  let before = '';
  for (const { body, status } of exchanges) {
    const { controller_health_metrics, ...details } = JSON.parse(body) as ServeDetails & {
      controller_health_metrics?: object;
    };
    const targets = JSON.stringify([status, Object.keys(details.applications ?? {}), details.target_groups]);
    if (targets !== before) kept.push(JSON.stringify({ status, body: details }));
    before = targets;
  }
  return `[\n${kept.join(',\n')}\n]\n`;
}
