import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Runner } from '../src/control/runner/contract.js';
import { KUBERNETES_EXCEPTIONS, KubernetesGround } from '../src/control/runner/kubernetes/kubernetes-ground.fixture.js';
import { runnerDrills } from '../src/control/runner/kubernetes/runner-drills.contract.js';
import { capacityRules, runnerRules } from '../src/control/runner/kubernetes/runner-rules.js';
import { runnerContract } from '../src/control/runner/runner.contract.js';
import type { Credentials } from '../src/kube/access/kube-access.js';
import { readKubeconfig } from '../src/kube/access/kubeconfig.js';
import { KubeClient } from '../src/kube/kube-client.js';
import type { RoleRule } from '../src/kube/rights.js';

/** Against a real API server: TWINYARD_TEST_KUBECONFIG names one whose admin may create namespaces. Skipped without it. */
const KUBECONFIG = process.env.TWINYARD_TEST_KUBECONFIG;
/** `npm test` replays what is recorded here, where there is no cluster. */
const IS_RECORDING = process.env.TWINYARD_RECORD === '1';
const NAMESPACE = `twinyard-runner-${process.pid}`;

describe.skipIf(KUBECONFIG === undefined)('a real API server', () => {
  const access = () => readKubeconfig(KUBECONFIG!, null);

  beforeAll(async () => {
    const admin = new KubeClient(access());
    await admin.json('/api/v1/namespaces', { method: 'POST', body: { metadata: { name: NAMESPACE } } });
    await admin.close();
  });

  afterAll(async () => {
    const admin = new KubeClient(access());
    await admin.json(`/api/v1/namespaces/${NAMESPACE}`, { method: 'DELETE' });
    await admin.close();
  });

  /** Access with the rules of a Role and nothing else. */
  async function withRules(name: string, rules: readonly RoleRule[]): Promise<Credentials> {
    const admin = new KubeClient(access());
    const core = `/api/v1/namespaces/${NAMESPACE}`;
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}`;
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
    const subjects = [{ kind: 'ServiceAccount', name, namespace: NAMESPACE }];
    const make = <T>(path: string, body: object) => admin.json<T>(path, { method: 'POST', body });
    await make(`${core}/serviceaccounts`, { metadata: { name } });
    await make(`${rbac}/roles`, { metadata: { name }, rules: rules.filter(({ verbs }) => verbs.length > 0) });
    await make(`${rbac}/rolebindings`, { metadata: { name }, roleRef, subjects });
    const { status } = await make<{ status: { token: string } }>(`${core}/serviceaccounts/${name}/token`, { spec: {} });
    await admin.close();
    return { read: () => Promise.resolve({ authorization: `Bearer ${status.token}` }) };
  }

  /** Starts, reads and stops a replica; returns what was refused. */
  async function refusalsOf(credentials: Credentials, isBlind = false): Promise<string[]> {
    const ground = await KubernetesGround.inCluster(access(), NAMESPACE);
    let runner: Runner | null = null;
    try {
      runner = await ground.open({ access: { ...ground.access, credentials }, killWaitMs: 5000 });
      const refused = async () => (await runner!.discover()).problems.filter((one) => one.includes('forbidden'));
      // Without its watches it sees nothing happen, and reports why.
      while (isBlind) if ((await refused()).length > 0) return await refused();
      const isReady = new Promise((resolve) => runner!.watch(({ type }) => type === 'ready' && resolve(null)));
      await runner.start(ground.spec('a', {}, { secretEnv: { A: 'b' } }));
      await isReady;
      await runner.discover();
      for await (const line of runner.logs('a')) expect(line).toBe('listening');
      await runner.stop('a', { graceMs: 1000 });
      return ground.faults.map(({ message }) => message);
    } catch (error) {
      return [...ground.faults.map(({ message }) => message), (error as Error).message];
    } finally {
      await runner?.close();
      await ground.clear();
    }
  }

  it('needs exactly the rights of the Role that kube-role prints', async () => {
    const rules = runnerRules();
    expect(await refusalsOf(await withRules('enough', rules))).toEqual([]);
    for (const [i, { resources, verbs }] of rules.entries()) {
      for (const verb of verbs) {
        const less = rules.map((rule, j) => (i === j ? { ...rule, verbs: verbs.filter((one) => one !== verb) } : rule));
        const isSeenOnly = verb === 'watch' || resources[0] === 'events';
        const name = `without-${verb}-${resources[0]!.replace('/', '-')}`;
        const refusals = (await refusalsOf(await withRules(name, less), isSeenOnly)).join('\n');
        expect(refusals, name).toContain(`cannot ${verb} resource "${resources[0]}"`);
      }
    }
  });

  it('knows what is free with the rights of --nodes, and refuses what no node could run with the numbers', async () => {
    const ground = await KubernetesGround.inCluster(access(), NAMESPACE);
    const account = `capacity-${process.pid}`;
    const credentials = await withRules(account, runnerRules());
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: account };
    const subjects = [{ kind: 'ServiceAccount', name: account, namespace: NAMESPACE }];
    const settings = { kubernetes: { namespace: NAMESPACE } };
    const runner = await ground.open({ access: { ...ground.access, credentials }, settings });
    const made: string[] = [];
    try {
      expect((await runner.discover()).problems).toEqual([
        'nodes may not be read: what the cluster has and what is free is not known',
      ]);
      const put = async (kind: string, body: object) => {
        await ground.client.json(`${rbac}/${kind}`, { method: 'POST', body: { metadata: { name: account }, ...body } });
        made.push(`${rbac}/${kind}/${account}`);
      };
      const [nodes, pods] = capacityRules();
      await put('clusterroles', { rules: [nodes] });
      await put('clusterrolebindings', { roleRef, subjects });
      const problem = async () => (await runner.discover()).problems.join();
      while ((await problem()) !== 'pods of other programs may not be read: less may be free') await delay(50);
      const rules = {
        method: 'PATCH',
        contentType: 'application/merge-patch+json',
        body: { rules: [nodes, pods] },
      } as const;
      await ground.client.json(`${rbac}/clusterroles/${account}`, rules);
      while ((await problem()) !== '') await delay(50);
      const { free, gpus } = await runner.discover();
      expect(free.cpus).toBeGreaterThan(0);
      const most = { cpu: null, memoryBytes: null, gpus: gpus.length + 1, product: null };
      await expect(runner.start(ground.spec('wide', {}, { resources: most }))).rejects.toThrow(
        /does not fit: it needs \d+ of nvidia.com\/gpu on one node; the largest node, .*, has \d+ \(\d+ free\)/,
      );
      await expect(ground.client.json(ground.deployment('wide'))).rejects.toMatchObject({ status: 404 });
    } finally {
      for (const path of made) await ground.client.json(path, { method: 'DELETE' });
      await runner.close();
      await ground.clear();
    }
  });

  it('leaves alone what another control plane or a copy has, and deletes all that it has made', async () => {
    const ground = await KubernetesGround.inCluster(access(), NAMESPACE);
    const [first, second] = [await ground.open({ clusterUid: 'uid-1' }), await ground.open({ clusterUid: 'uid-2' })];
    const core = `/api/v1/namespaces/${NAMESPACE}`;
    const ids = async (runner: Runner) => (await runner.list()).map(({ id }) => id);
    const isThere = (path: string) => ground.client.json(path).then(Boolean, () => false);
    const readyOf = (runner: Runner) =>
      new Promise((resolve) => runner.watch(({ type }) => type === 'ready' && resolve(null)));
    const send = (path: string, body: object) => ground.client.json<object>(path, { method: 'POST', body });
    try {
      const bothReady = Promise.all([first, second].map(readyOf));
      await first.start(ground.spec('a', {}, { secretEnv: { A: 'b' } }));
      await second.start(ground.spec('b'));
      await bothReady;
      // The same labels, annotations and selector under another name, and a pod without an owner that has the same labels.
      type Seen = { metadata: { labels: object; annotations: object }; spec: { template: { spec: object } } };
      const { metadata, spec } = await ground.client.json<Seen>(ground.deployment('a'));
      const { annotations, labels } = metadata;
      const copy = {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'a-copy', labels, annotations },
        spec,
      };
      await send(ground.deployment('').slice(0, -1), copy);
      const alone = { metadata: { name: 'alone', labels }, spec: { ...spec.template.spec, nodeName: 'no-such-node' } };
      await send(`${core}/pods`, alone);
      const podsOfCopy = async () => {
        const { items } = await ground.client.json<{
          items: { metadata: { name: string; deletionTimestamp?: string } }[];
        }>(`${core}/pods`);
        return items.filter((one) => one.metadata.name.startsWith('a-copy-') && !one.metadata.deletionTimestamp);
      };
      while ((await podsOfCopy()).length === 0) await delay(20);
      expect([await ids(first), await ids(second)]).toEqual([['a'], ['b']]);
      expect((await second.discover()).problems).toContainEqual(
        expect.stringMatching(
          /has replicas of another Cluster or control plane, which are left alone: kubectl get deployments -n/,
        ),
      );
      await first.stop('a', { graceMs: 1000 });
      await first.close();
      expect(await isThere(ground.deployment('a'))).toBe(false);
      while (await isThere(`${core}/secrets/a`)) await delay(20);
      expect(await isThere(ground.deployment('a-copy'))).toBe(true);
      expect(await podsOfCopy()).toHaveLength(1);
      expect(await isThere(`${core}/pods/alone`)).toBe(true);
      expect((await second.list()).map(({ id, phase }) => [id, phase])).toEqual([['b', 'ready']]);
    } finally {
      await first.close();
      await second.close();
      await ground.clear();
    }
  });

  it('reports the admission webhook that refuses a pod', async () => {
    const ground = await KubernetesGround.inCluster(access(), NAMESPACE);
    const name = `twinyard-test-${process.pid}`;
    const hooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
    const webhook = {
      ...{ name: 'pods.example.com', rules: [rule], sideEffects: 'None', admissionReviewVersions: ['v1'] },
      // Nothing listens there: it fails, and what it would check is refused.
      ...{ clientConfig: { url: 'https://127.0.0.1:1/' }, failurePolicy: 'Fail', timeoutSeconds: 5 },
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': NAMESPACE } },
    };
    await ground.client.json(hooks, { method: 'POST', body: { metadata: { name }, webhooks: [webhook] } });
    const runner = await ground.open();
    try {
      await runner.start(ground.spec('refused'));
      const problemOf = async () => (await runner.list())[0]?.problem ?? '';
      while (!(await problemOf()).includes('webhook')) await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await problemOf()).toMatch(/^FailedCreate: .*failed calling webhook "pods.example.com"/);
    } finally {
      await ground.client.json(`${hooks}/${name}`, { method: 'DELETE' });
      await runner.close();
      await ground.clear();
    }
  });

  const ground = () =>
    KubernetesGround.inCluster(access(), NAMESPACE, IS_RECORDING ? expect.getState().currentTestName! : undefined);
  runnerContract(ground, KUBERNETES_EXCEPTIONS);
  runnerDrills(ground);
});
