import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Discoveries } from '../src/cli/serve/discover.js';
import { DEFAULT_POLICY } from '../src/gateway/config/gateway-config.js';
import { FakeEngine, sendJson, startGateway, until } from '../src/gateway/fake-engine.fixture.js';
import type { Gateway } from '../src/gateway/gateway.js';
import { readServeTarget } from '../src/ray/serve/serve-target.js';

async function engineOf(): Promise<FakeEngine> {
  const engine = await FakeEngine.start();
  // An application need not have a health check: Serve has one for each replica.
  engine.health = 404;
  engine.pages.set('/-/healthz', { status: 200, text: 'success' });
  onTestFinished(() => engine.kill());
  return engine;
}

function targetOf({ url }: FakeEngine) {
  const { hostname, port } = new URL(url);
  return { ip: hostname, port: Number(port), name: `SERVE_REPLICA::chat#Model#p${port}` };
}

/** A dashboard whose Serve has these replicas. */
async function start(first: readonly FakeEngine[]) {
  const serve = { engines: first, calls: new Set<string>() };
  const dashboard = createServer((request, response) => {
    serve.calls.add(`${request.method} ${request.url}`);
    const group = { app_name: 'chat', protocol: 'HTTP', route_prefix: '/', targets: serve.engines.map(targetOf) };
    const applications = { chat: { route_prefix: '/' } };
    sendJson(response, 200, { controller_info: { pid: 1 }, applications, target_groups: [group] });
  });
  await new Promise<void>((resolve) => dashboard.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(dashboard.address() as AddressInfo).port}`;
  const rayServe = { target: readServeTarget(url), engine: 'vllm' };
  const endpoints = [{ name: 'default', policy: DEFAULT_POLICY, replicas: [], rayServe }];
  const gateway = await startGateway([], { endpoints, waitMs: 1e6 });
  const lines: string[] = [];
  const discoveries = new Discoveries(gateway.fleet, (line) => lines.push(line));
  const close = () =>
    new Promise((resolve) => {
      dashboard.close(resolve);
      dashboard.closeAllConnections();
    });
  onTestFinished(async () => {
    await discoveries.close();
    await gateway.close(0);
    await close();
  });
  discoveries.follow(endpoints);
  await until(() => gateway.endpoints.get('default')!.isReadyFor('m'));
  return { close, discoveries, gateway, lines, serve };
}

const post = (gateway: Gateway) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] }),
  });

describe('replicas found in Ray Serve', () => {
  it('come and drain under load without a lost request, and Serve is only read', async () => {
    const [old, young] = [await engineOf(), await engineOf()];
    const { gateway, serve } = await start([old]);
    let isOver = false;
    const statuses: number[] = [];
    const clients = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const response = await post(gateway);
        await response.text();
        statuses.push(response.status);
      }
    });
    serve.engines = [old, young];
    await young.got(3);
    // One response of the old replica begins before it drains, and ends when it has left.
    let finish = () => {};
    old.answer = ({ response }) => {
      finish = () => sendJson(response, 200, { late: true });
      old.answer = ({ response }) => sendJson(response, 200, {});
    };
    await old.got(old.seen.length + 1);
    serve.engines = [young];
    await until(() => gateway.endpoints.get('default')!.replicas.length === 1);
    finish();
    isOver = true;
    await Promise.all(clients);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect([...serve.calls]).toEqual(['GET /api/serve/applications/']);
  });

  it('stay while the dashboard is away, and leave with the configuration', async () => {
    const engine = await engineOf();
    const { close, discoveries, gateway, lines } = await start([engine]);
    const { id } = gateway.endpoints.get('default')!.replicas[0]!;
    expect([id, lines]).toEqual([
      `chat.Model.p${new URL(engine.url).port}`,
      ["endpoint 'default': 1 replica in the cluster"],
    ]);
    await close();
    await until(() => gateway.metricsText().includes('twinyard_discovery_up{endpoint="default"} 0'));
    expect((await post(gateway)).status).toBe(200);
    expect(lines[1]).toMatch(/^warning: endpoint 'default' keeps 1 replica: http:.*cannot be reached/);
    discoveries.follow([]);
    expect(gateway.endpoints.get('default')!.replicas).toHaveLength(0);
  });
});
