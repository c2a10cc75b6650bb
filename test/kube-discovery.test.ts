import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Discoveries } from '../src/cli/serve/discover.js';
import { DEFAULT_POLICY, type KubeSource } from '../src/gateway/config/gateway-config.js';
import { FakeEngine, sendJson, startGateway, until } from '../src/gateway/fake-engine.fixture.js';
import type { Gateway } from '../src/gateway/gateway.js';
import { readKubeTarget } from '../src/kube/discovery/kube-target.js';
import { eventLine, FakeApiServer, fakeObject, listOf } from '../src/kube/fake-api-server.fixture.js';

/** The slice of one engine: each listens on its own port. */
function slice(engine: FakeEngine, version: number, conditions: object = { ready: true }) {
  const { hostname, port } = new URL(engine.url);
  const endpoints = [{ addresses: [hostname], conditions, targetRef: { kind: 'Pod', name: `pod-${port}` } }];
  return {
    ...fakeObject(`s-${port}`, String(version)),
    addressType: 'IPv4',
    ports: [{ port: Number(port) }],
    endpoints,
  };
}

async function engineOf(): Promise<FakeEngine> {
  const engine = await FakeEngine.start();
  onTestFinished(() => engine.kill());
  return engine;
}

async function start(first: readonly object[]) {
  const api = await FakeApiServer.start(() => (call, response) => {
    if (call.isWatch) response.flushHeaders();
    else response.end(listOf('1', first as never));
  });
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-kube-'));
  const kubeconfig = join(folder, 'config');
  const { server } = api.access;
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a' } }],
      clusters: [{ name: 'a', cluster: { server } }],
    }),
  );
  const kube: KubeSource = { target: readKubeTarget(`service=vllm,kubeconfig=${kubeconfig}`), engine: 'vllm' };
  const endpoints = [{ name: 'default', policy: DEFAULT_POLICY, replicas: [], kube }];
  const gateway = await startGateway([], { endpoints, waitMs: 1e6 });
  const lines: string[] = [];
  const discoveries = new Discoveries(gateway.fleet, (line) => lines.push(line));
  onTestFinished(async () => {
    await discoveries.close();
    await gateway.close(0);
    await api.close();
    rmSync(folder, { recursive: true });
  });
  return { api, discoveries, endpoints, gateway, lines };
}

const post = (gateway: Gateway) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] }),
  });

describe('replicas found in a cluster', () => {
  it('come, drain and go under load without a lost request', async () => {
    const [old, young] = [await engineOf(), await engineOf()];
    const { api, discoveries, endpoints, gateway } = await start([slice(old, 1)]);
    discoveries.follow(endpoints);
    await until(() => gateway.endpoints.get('default')!.isReadyFor('m'));

    let isOver = false;
    const statuses: number[] = [];
    const clients = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const response = await post(gateway);
        await response.text();
        statuses.push(response.status);
      }
    });
    await api.until(() => api.watches.length === 1);
    const [watch] = api.watches;
    watch!.write(eventLine('ADDED', slice(young, 2)));
    await young.got(3);

    // One response of the old replica begins before it drains, and ends when it has left.
    let finish = () => {};
    old.answer = ({ response }) => {
      finish = () => sendJson(response, 200, { late: true });
      old.answer = ({ response }) => sendJson(response, 200, {});
    };
    const count = old.seen.length;
    await old.got(count + 1);
    const draining = gateway.endpoints.get('default')!.replicas.find(({ url }) => url === old.url)!;
    watch!.write(eventLine('MODIFIED', slice(old, 3, { ready: false, serving: true, terminating: true })));
    await until(() => gateway.endpoints.get('default')!.replicas.length === 1);
    // Requests that were sent to it before have arrived and ended, all but the one response.
    await until(() => draining.active === 1);
    watch!.write(eventLine('DELETED', slice(old, 4)));
    const before = old.seen.length;
    await young.got(young.seen.length + 5);
    expect(old.seen.length).toBe(before);
    finish();
    isOver = true;
    await Promise.all(clients);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it('stay while the API server is away, and the metrics say so', async () => {
    const engine = await engineOf();
    const { api, discoveries, endpoints, gateway, lines } = await start([slice(engine, 1)]);
    discoveries.follow(endpoints);
    await until(() => gateway.endpoints.get('default')!.isReadyFor('m'));
    expect(gateway.metricsText()).toContain('twinyard_discovery_up{endpoint="default"} 1');
    await api.close();
    await until(() => gateway.metricsText().includes('twinyard_discovery_up{endpoint="default"} 0'));
    expect((await post(gateway)).status).toBe(200);
    expect(lines[0]).toBe("endpoint 'default': 1 replica in the cluster");
    expect(lines[1]).toMatch(/^warning: endpoint 'default' keeps 1 replica: http:.*cannot be reached/);
  });

  it('are awaited while all are away, and leave with the configuration', async () => {
    const [old, young] = [await engineOf(), await engineOf()];
    const { api, discoveries, endpoints, gateway } = await start([]);
    discoveries.follow(endpoints);
    const unknown = await post(gateway);
    expect([unknown.status, unknown.headers.has('retry-after')]).toEqual([503, true]);
    await api.until(() => api.watches.length === 1);
    const endpoint = gateway.endpoints.get('default')!;
    api.watches[0]!.write(eventLine('ADDED', slice(old, 2)));
    await until(() => endpoint.isReadyFor('m'));
    api.watches[0]!.write(eventLine('DELETED', slice(old, 3)));
    await until(() => endpoint.replicas.length === 0);
    const waiting = post(gateway);
    api.watches[0]!.write(eventLine('ADDED', slice(young, 4)));
    expect((await waiting).status).toBe(200);
    gateway.reload(gateway.config);
    expect(endpoint.replicas).toHaveLength(1);
    discoveries.follow([]);
    expect(endpoint.replicas).toHaveLength(0);
    expect(gateway.metricsText()).not.toContain('twinyard_discovery_up{');
  });
});
