import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Discoveries } from '../src/cli/serve/discover.js';
import { DEFAULT_POLICY } from '../src/gateway/config/gateway-config.js';
import { FakeEngine, startGateway, until } from '../src/gateway/fake-engine.fixture.js';
import type { KubeAccess } from '../src/kube/access/kube-access.js';
import { readKubeconfig } from '../src/kube/access/kubeconfig.js';
import { discoveryRules } from '../src/kube/discovery/discovery-rules.js';
import type { KubeReplica } from '../src/kube/discovery/found-replicas.js';
import { KubeDiscovery } from '../src/kube/discovery/kube-discovery.js';
import { readKubeTarget } from '../src/kube/discovery/kube-target.js';
import { KubeClient } from '../src/kube/kube-client.js';

/** Against a real API server: TWINYARD_TEST_KUBECONFIG names one whose admin may create namespaces. Skipped without it. */
const KUBECONFIG = process.env.TWINYARD_TEST_KUBECONFIG;
const NAMESPACE = `twinyard-test-${process.pid}`;
const POD_PATCH = 'application/strategic-merge-patch+json';

type Rule = ReturnType<typeof discoveryRules>[0];

describe.skipIf(KUBECONFIG === undefined)('a real API server', () => {
  let admin: KubeClient;
  const core = `/api/v1/namespaces/${NAMESPACE}`;
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}`;

  beforeAll(async () => {
    admin = new KubeClient(readKubeconfig(KUBECONFIG!, null));
    await admin.json('/api/v1/namespaces', { method: 'POST', body: { metadata: { name: NAMESPACE } } });
  });

  afterAll(async () => {
    await admin.json(`/api/v1/namespaces/${NAMESPACE}`, { method: 'DELETE' });
    await admin.close();
  });

  /** Access with the rules of a Role and nothing else. */
  async function withRules(name: string, rules: readonly Rule[]): Promise<KubeAccess> {
    const metadata = { name };
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
    await admin.json(`${core}/serviceaccounts`, { method: 'POST', body: { metadata } });
    await admin.json(`${rbac}/roles`, { method: 'POST', body: { metadata, rules } });
    const subjects = [{ kind: 'ServiceAccount', name, namespace: NAMESPACE }];
    await admin.json(`${rbac}/rolebindings`, { method: 'POST', body: { metadata, roleRef, subjects } });
    const { status } = await admin.json<{ status: { token: string } }>(`${core}/serviceaccounts/${name}/token`, {
      method: 'POST',
      body: { spec: {} },
    });
    const credential = { authorization: `Bearer ${status.token}` };
    return { ...admin.access, namespace: NAMESPACE, credentials: { read: () => Promise.resolve(credential) } };
  }

  /** A pod on no real node: its status is what the test says. */
  async function pod(name: string, app: string, port: number): Promise<void> {
    const containers = [{ name: 'engine', image: 'none', ports: [{ containerPort: port }] }];
    const spec = { nodeName: 'no-such-node', terminationGracePeriodSeconds: 3600, containers };
    await admin.json(`${core}/pods`, { method: 'POST', body: { metadata: { name, labels: { app } }, spec } });
  }

  const setStatus = (name: string, ready: boolean) =>
    admin.json(`${core}/pods/${name}/status`, {
      method: 'PATCH',
      contentType: POD_PATCH,
      body: {
        status: {
          phase: 'Running',
          podIP: '127.0.0.1',
          podIPs: [{ ip: '127.0.0.1' }],
          conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
        },
      },
    });

  function discover(access: KubeAccess, text: string) {
    const client = new KubeClient(access);
    const state: { replicas: readonly KubeReplica[]; problem: string | null } = { replicas: [], problem: null };
    const discovery = new KubeDiscovery({
      client,
      target: readKubeTarget(text),
      found: (replicas, problem) => Object.assign(state, { replicas, problem }),
    });
    onTestFinished(async () => {
      await discovery.close();
      await client.close();
    });
    return { discovery, state };
  }

  it('needs exactly the rights of the generated Role', async () => {
    const rules = discoveryRules(['selector', 'service']);
    const access = await withRules('enough', rules);
    for (const target of ['selector=app=none', 'service=none']) {
      const { discovery, state } = discover(access, target);
      await discovery.synced;
      expect(state).toEqual({ replicas: [], problem: null });
    }
    for (const verb of ['list', 'watch']) {
      const less = rules.map((rule) => ({ ...rule, verbs: rule.verbs.filter((one) => one !== verb) }));
      const poor = await withRules(`without-${verb}`, less);
      for (const target of ['selector=app=none', 'service=none']) {
        const { state } = discover(poor, target);
        await until(() => state.problem !== null);
        expect(state.problem).toContain(`cannot ${verb} resource`);
      }
    }
  });

  it('tells when pods come, drain and go, and no request is lost', async () => {
    const engines = [await FakeEngine.start(), await FakeEngine.start()];
    const ports = engines.map(({ url }) => Number(new URL(url).port));
    const folder = mkdtempSync(join(tmpdir(), 'twinyard-kube-'));
    const kubeconfig = join(folder, 'config');
    writeFileSync(kubeconfig, readFileSync(KUBECONFIG!));
    const kube = {
      target: readKubeTarget(`selector=app=drill,namespace=${NAMESPACE},kubeconfig=${kubeconfig}`),
      engine: 'vllm',
    };
    const endpoints = [{ name: 'default', policy: DEFAULT_POLICY, replicas: [], kube }];
    const gateway = await startGateway([], { endpoints, waitMs: 60_000 });
    const discoveries = new Discoveries(gateway.fleet, () => {});
    onTestFinished(async () => {
      await discoveries.close();
      await gateway.close(0);
      for (const engine of engines) await engine.kill();
      rmSync(folder, { recursive: true });
    });
    await pod('a', 'drill', ports[0]!);
    await setStatus('a', true);
    discoveries.follow(endpoints);
    const endpoint = gateway.endpoints.get('default')!;
    const ids = () => endpoint.replicas.map(({ id }) => id).join();
    await until(() => endpoint.isReadyFor('m'));
    let isOver = false;
    const statuses = new Set<number>();
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] });
    const clients = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const response = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', body });
        await response.text();
        statuses.add(response.status);
      }
    });
    await pod('b', 'drill', ports[1]!);
    await setStatus('b', true);
    await engines[1]!.got(5);
    await admin.json(`${core}/pods/a`, { method: 'DELETE' });
    await until(() => ids() === `b.${NAMESPACE}`);
    await setStatus('b', false);
    await until(() => ids() === '');
    await setStatus('b', true);
    await engines[1]!.got(engines[1]!.seen.length + 5);
    await admin.json(`${core}/pods/a`, { method: 'DELETE', query: { gracePeriodSeconds: 0 } });
    isOver = true;
    await Promise.all(clients);
    expect(statuses).toEqual(new Set([200]));
  });

  it('lists 500 pods in pages', async () => {
    for (let i = 0; i < 510; i += 10) {
      await Promise.all(
        Array.from({ length: 10 }, async (_, j) => {
          const name = `many-${i + j}`;
          await pod(name, 'many', 8000);
          await setStatus(name, true);
        }),
      );
    }
    const { discovery, state } = discover({ ...admin.access, namespace: NAMESPACE }, 'selector=app=many');
    await discovery.synced;
    expect(state.replicas).toHaveLength(510);
    await admin.json(`${core}/pods`, { method: 'DELETE', query: { gracePeriodSeconds: 0, labelSelector: 'app=many' } });
    await until(() => state.replicas.length === 0);
  });
});
