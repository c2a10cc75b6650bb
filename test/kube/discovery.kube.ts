import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Discoveries } from '../../src/cli/serve/discover.js';
import { DEFAULT_POLICY } from '../../src/gateway/config/gateway-config.js';
import { startGateway } from '../../src/gateway/fake-engine.fixture.js';
import type { Gateway } from '../../src/gateway/gateway.js';
import type { KubeAccess } from '../../src/kube/access/kube-access.js';
import { readKubeconfig } from '../../src/kube/access/kubeconfig.js';
import { discoveryRules } from '../../src/kube/discovery/discovery-rules.js';
import type { KubeReplica } from '../../src/kube/discovery/found-replicas.js';
import { KubeDiscovery } from '../../src/kube/discovery/kube-discovery.js';
import { readKubeTarget } from '../../src/kube/discovery/kube-target.js';
import { KubeClient } from '../../src/kube/kube-client.js';
import { ClusterProxy } from '../../src/kube/recorded/cluster-proxy.fixture.js';
import type { WatchTiming } from '../../src/kube/watch/list-watch.js';
import { afterwards } from '../support/gateway-fixture.js';
import { eventually, KubeLab, LAB_KUBECONFIG, LabLoad } from '../support/kube-lab.js';

const print = (line: string) => process.stderr.write(`${line}\n`);
const isReady = (pod: { status?: { conditions?: readonly { type: string; status: string }[] } }) =>
  pod.status?.conditions?.some(({ status, type }) => type === 'Ready' && status === 'True') ?? false;

/** An API server accepts no loopback addresses in EndpointSlices: another one of this machine. */
const ADDRESS = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

async function addressedEngine(): Promise<{ port: number; served: number }> {
  const engine = { port: 0, served: 0 };
  const server = createServer((request, response) => {
    const isPrompt = request.method === 'POST';
    if (isPrompt) engine.served++;
    const body = request.url === '/v1/models' ? { data: [{ id: 'm' }] } : { choices: [] };
    request.resume().on('end', () => setTimeout(() => response.end(JSON.stringify(body)), isPrompt ? 20 : 0));
  });
  await new Promise<void>((resolve) => server.listen(0, ADDRESS, resolve));
  afterwards(async () => {
    server.closeAllConnections();
    server.close();
  });
  engine.port = (server.address() as AddressInfo).port;
  return engine;
}

/** A gateway in front of what a target names. */
async function gatewayOf(lab: KubeLab, text: string): Promise<Gateway> {
  const target = readKubeTarget(`${text},namespace=${lab.namespace},kubeconfig=${LAB_KUBECONFIG}`);
  const endpoints = [{ name: 'default', policy: DEFAULT_POLICY, replicas: [], kube: { target, engine: 'vllm' } }];
  const gateway = await startGateway([], { endpoints });
  const discoveries = new Discoveries(gateway.fleet, () => {});
  afterwards(async () => {
    await discoveries.close();
    await gateway.close(0);
  });
  discoveries.follow(endpoints);
  return gateway;
}

interface Found {
  replicas: readonly KubeReplica[];
  problem: string | null;
}

async function discover(access: KubeAccess, text: string, timing: Partial<WatchTiming> = {}) {
  const client = new KubeClient(access);
  const state: Found = { replicas: [], problem: null };
  const found = (replicas: readonly KubeReplica[], problem: string | null) =>
    void Object.assign(state, { replicas, problem });
  const discovery = new KubeDiscovery({ client, target: readKubeTarget(text), timing, found });
  afterwards(async () => {
    await discovery.close();
    await client.close();
  });
  await discovery.synced;
  return state;
}

describe('discovery in a real cluster', { timeout: 180_000 }, () => {
  test.skipIf(ADDRESS === undefined)(
    'follows EndpointSlices whose replicas come, drain and go under load, and no request is lost',
    async () => {
      const lab = await KubeLab.start();
      const slices = `/apis/discovery.k8s.io/v1/namespaces/${lab.namespace}/endpointslices`;
      // Without a selector its slices are those of the test.
      await lab.apply('v1', 'Service', `${lab.core}/services/vllm`, { spec: { ports: [{ name: 'http', port: 80 }] } });
      const engines = await Promise.all([1, 2, 3, 4].map(() => addressedEngine()));
      const slice = (i: number, conditions: object) => {
        const endpoints = [{ addresses: [ADDRESS], conditions, targetRef: { kind: 'Pod', name: `vllm-${i}` } }];
        const body = { addressType: 'IPv4', ports: [{ name: 'http', port: engines[i]!.port }], endpoints };
        const labels = { 'kubernetes.io/service-name': 'vllm' };
        return lab.apply('discovery.k8s.io/v1', 'EndpointSlice', `${slices}/vllm-${i}`, body, labels);
      };
      const come = (i: number) => slice(i, { ready: true, serving: true, terminating: false });
      const drain = (i: number) => slice(i, { ready: false, serving: true, terminating: true });
      const go = (i: number) => lab.client.json(`${slices}/vllm-${i}`, { method: 'DELETE' });
      await come(0);
      const gateway = await gatewayOf(lab, 'service=vllm');
      const endpoint = gateway.endpoints.get('default')!;
      const replicas = (...ids: number[]) =>
        eventually(() => {
          const found = endpoint.replicas.map(({ id }) => id.replace(`.${lab.namespace}`, '')).sort();
          return found.join() === ids.map((i) => `vllm-${i}`).join();
        });
      await eventually(() => endpoint.isReadyFor('m'));
      const load = new LabLoad(gateway.url);
      await load.more(50);
      for (let i = 1; i < engines.length; i++) {
        await come(i);
        await replicas(i - 1, i);
        await eventually(() => engines[i]!.served > 10);
        await drain(i - 1);
        await replicas(i);
        await go(i - 1);
        const { served } = engines[i - 1]!;
        await load.more(50);
        expect(engines[i - 1]!.served).toBe(served);
      }
      await load.end();
      print(`EndpointSlices that come, drain and go: ${load.complete} requests, lost ${JSON.stringify(load.lost)}`);
      expect(load.lost).toEqual([]);
    },
  );

  test('finds 500 pods that come at once within 2 s, with bounded memory', async () => {
    const lab = await KubeLab.start();
    for (const net of [91, 92, 93, 94, 95]) await lab.addNode(net);
    const access = { ...readKubeconfig(LAB_KUBECONFIG, null), namespace: lab.namespace };
    const followed = await discover(access, 'selector=app=many');
    const ready = async () => (await lab.pods()).filter(isReady).length;
    const heap = () => {
      globalThis.gc?.();
      return process.memoryUsage().heapUsed;
    };
    const before = heap();
    await lab.deploy('many', 500);
    await eventually(async () => (await ready()) === 500);
    const all = performance.now();
    await eventually(() => followed.replicas.length === 500);
    const followedMs = performance.now() - all;
    const begin = performance.now();
    const fresh = await discover(access, 'selector=app=many');
    const listedMs = performance.now() - begin;
    const megabytes = (heap() - before) / 2 ** 20;
    print(
      `500 pods: followed ${Math.round(followedMs)} ms after the last was ready, listed in ${Math.round(listedMs)} ms, ` +
        `heap of two discoveries and the lab +${megabytes.toFixed(1)} MiB`,
    );
    expect(fresh.replicas).toHaveLength(500);
    expect(followedMs).toBeLessThan(2000);
    expect(listedMs).toBeLessThan(2000);
    expect(megabytes).toBeLessThan(64);
  });

  test('goes on after a watch that falls silent, and after versions that are gone', async () => {
    const lab = await KubeLab.start();
    await lab.addNode(82);
    const proxy = await ClusterProxy.start(readKubeconfig(LAB_KUBECONFIG, null), null);
    afterwards(() => proxy.close());
    const access = { ...proxy.access, namespace: lab.namespace };
    const state = await discover(access, 'selector=app=vllm', { silenceMs: 3000, watchSeconds: 10 });
    await eventually(() => proxy.watches === 1);
    proxy.isSilent = true;
    await lab.deploy('vllm', 1);
    await eventually(async () => (await lab.pods()).some(isReady));
    expect(state.replicas).toEqual([]);
    const silent = proxy.watches;
    await eventually(() => proxy.watches > silent);
    proxy.isSilent = false;
    await eventually(() => state.replicas.length === 1);
    // The API server no longer has the first version of its store.
    proxy.watchVersion = '1';
    const old = proxy.watches;
    await eventually(() => proxy.watches > old);
    await lab.deploy('vllm', 2);
    await eventually(async () => (await lab.pods()).filter(isReady).length === 2);
    proxy.watchVersion = null;
    await eventually(() => state.replicas.length === 2);
  });

  test('reads a new token when the old one is no longer accepted', async () => {
    const lab = await KubeLab.start();
    await lab.addNode(83);
    const folder = mkdtempSync(join(tmpdir(), 'twinyard-token-'));
    afterwards(async () => rmSync(folder, { recursive: true }));
    const admin = readKubeconfig(LAB_KUBECONFIG, null);
    const tokenFile = join(folder, 'token');
    const issue = async (name: string) => {
      const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${lab.namespace}`;
      const subjects = [{ kind: 'ServiceAccount', name, namespace: lab.namespace }];
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
      const api = 'rbac.authorization.k8s.io/v1';
      await lab.apply('v1', 'ServiceAccount', `${lab.core}/serviceaccounts/${name}`, {});
      await lab.apply(api, 'Role', `${rbac}/roles/${name}`, { rules: discoveryRules(['selector']) });
      await lab.apply(api, 'RoleBinding', `${rbac}/rolebindings/${name}`, { roleRef, subjects });
      const call = { method: 'POST', body: { spec: {} } } as const;
      const path = `${lab.core}/serviceaccounts/${name}/token`;
      const { status } = await lab.client.json<{ status: { token: string } }>(path, call);
      writeFileSync(tokenFile, status.token);
    };
    await issue('first');
    const kubeconfig = join(folder, 'config');
    const cluster = { server: admin.server, 'insecure-skip-tls-verify': true };
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        'current-context': 'a',
        contexts: [{ name: 'a', context: { cluster: 'a', user: 'a', namespace: lab.namespace } }],
        clusters: [{ name: 'a', cluster }],
        users: [{ name: 'a', user: { tokenFile } }],
      }),
    );
    const state = await discover(readKubeconfig(kubeconfig, null), 'selector=app=vllm', { watchSeconds: 1 });
    await lab.client.json(`${lab.core}/serviceaccounts/first`, { method: 'DELETE' });
    await eventually(() => state.problem !== null);
    expect(state.problem).toContain('Unauthorized');
    await issue('second');
    await lab.deploy('vllm', 1);
    await eventually(() => state.problem === null && state.replicas.length === 1);
  });
});
