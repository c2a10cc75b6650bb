import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeKubelet } from '../src/control/runner/kubernetes/fake-kubelet.fixture.js';
import type { KubeAccess } from '../src/kube/access/kube-access.js';
import { readKubeconfig } from '../src/kube/access/kubeconfig.js';
import { electionRules } from '../src/kube/election/lease-calls.js';
import { LeaseElection } from '../src/kube/election/lease-election.js';
import type { LeaseObject } from '../src/kube/election/lease-object.js';
import { KubeClient } from '../src/kube/kube-client.js';
import type { KubeList, KubeObject } from '../src/kube/kube-object.js';
import { POSTGRES_PROGRAMS, startPostgres } from '../src/store/postgres.fixture.js';
import { afterwards } from './support/gateway-fixture.js';
import { type ServeProcess, serveProcess } from './support/serve-process.js';

/** Against a real API server: TWINYARD_TEST_KUBECONFIG names one whose admin may create namespaces. Skipped without it. */
const KUBECONFIG = process.env.TWINYARD_TEST_KUBECONFIG;
const NAMESPACE = `twinyard-leader-${process.pid}`;
const LEASE = { namespace: NAMESPACE, name: 'twinyard' };
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`;
const CHAT = 'workspaces/default/endpoints/chat';
const LONG_MS = 240_000;

/** An engine that the stand-in for the kubelet starts on an address of its own. */
const ENGINE = `
require('node:http').createServer((request, response) => {
  const isChat = request.url.includes('completions');
  const chat = { id: 'c', object: 'chat.completion', model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } };
  const models = { object: 'list', data: [{ id: 'm', object: 'model' }] };
  response.setHeader('content-type', 'application/json');
  request.resume().on('end', () => response.end(JSON.stringify(isChat ? chat : models)));
}).listen(Number(process.argv[2]), process.env.FAKE_HOST);
`;

describe.skipIf(KUBECONFIG === undefined)('leader election with a real API server', () => {
  let admin: KubeClient;
  const core = `/api/v1/namespaces/${NAMESPACE}`;

  beforeAll(async () => {
    admin = new KubeClient(readKubeconfig(KUBECONFIG!, null));
    await admin.json('/api/v1/namespaces', { method: 'POST', body: { metadata: { name: NAMESPACE } } });
  });

  afterAll(async () => {
    await admin.json(`/api/v1/namespaces/${NAMESPACE}`, { method: 'DELETE' });
    await admin.close();
  });

  const lease = () => admin.json<LeaseObject>(`${LEASES}/${LEASE.name}`);

  /** Access with the rules of a Role and nothing else. */
  async function withRules(name: string, rules: readonly object[]): Promise<KubeAccess> {
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}`;
    const make = <T>(path: string, body: object) => admin.json<T>(path, { method: 'POST', body });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
    const subjects = [{ kind: 'ServiceAccount', name, namespace: NAMESPACE }];
    await make(`${core}/serviceaccounts`, { metadata: { name } });
    await make(`${rbac}/roles`, { metadata: { name }, rules });
    await make(`${rbac}/rolebindings`, { metadata: { name }, roleRef, subjects });
    const { status } = await make<{ status: { token: string } }>(`${core}/serviceaccounts/${name}/token`, { spec: {} });
    const credential = { authorization: `Bearer ${status.token}` };
    return { ...admin.access, credentials: { read: () => Promise.resolve(credential) } };
  }

  /** Takes a Lease that does not exist, releases it and takes it over; returns what went wrong. */
  async function problemsWith(access: KubeAccess): Promise<string[]> {
    const client = new KubeClient(access);
    const problems: string[] = [];
    const join = (identity: string) =>
      LeaseElection.open({
        ...{ client, identity, lease: LEASE, mayLead: async () => true, isAble: () => true, changed: () => {} },
        onProblem: (line) => problems.push(line),
      });
    const first = await join('a');
    await first.release();
    const second = await join('b');
    if (problems.length === 0) expect([second.isHeld, (await lease()).spec!.holderIdentity]).toEqual([true, 'b']);
    await second.release();
    await client.close();
    return problems;
  }

  it('needs exactly the rights of its rules, and no other Lease', async () => {
    const rules = electionRules(LEASE);
    expect(await problemsWith(await withRules('enough', rules))).toEqual([]);
    expect((await lease()).spec).toMatchObject({ leaseDurationSeconds: 1, leaseTransitions: 1 });
    const { items } = await admin.json<KubeList<KubeObject & { message: string }>>(`${core}/events`);
    expect(items!.map(({ message }) => message).sort()).toEqual([
      'a became leader',
      'a stopped leading',
      'b became leader',
      'b stopped leading',
    ]);
    for (const [i, { resources, verbs }] of rules.entries()) {
      for (const verb of verbs) {
        await admin.json(`${LEASES}/${LEASE.name}`, { method: 'DELETE' }).catch(() => {});
        const less = rules.flatMap((rule, j) => {
          const left = i === j ? rule.verbs.filter((one) => one !== verb) : rule.verbs;
          return left.length === 0 ? [] : [{ ...rule, verbs: left }];
        });
        const problems = await problemsWith(await withRules(`without-${verb}-${resources[0]}`, less));
        expect(problems.join('\n'), verb).toContain(`cannot ${verb} resource "${resources[0]}"`);
      }
    }
    await admin.json(`${LEASES}/${LEASE.name}`, { method: 'DELETE' }).catch(() => {});
  });

  const hasPostgres = POSTGRES_PROGRAMS !== null;
  const drill =
    'a leader that is killed, suspended or stopped is followed by another: the same replicas, and no request is lost';
  it.skipIf(!hasPostgres)(
    hasPostgres ? drill : `${drill}: skipped, PostgreSQL is not installed here`,
    drilled,
    LONG_MS,
  );

  async function drilled(): Promise<void> {
    const server = await startPostgres();
    afterwards(() => server.stop());
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'twinyard-leader-')));
    afterwards(async () => rmSync(folder, { recursive: true }));
    const engine = join(folder, 'engine.cjs');
    writeFileSync(engine, ENGINE);
    const kubelet = new FakeKubelet(admin, NAMESPACE, false);
    afterwards(() => kubelet.close());
    const store = await server.freshUrl();
    const kubeconfig = resolve(KUBECONFIG!);
    const serve = (host: string) =>
      serveProcess([
        ...['--store', store, '--data-dir', join(folder, host)],
        ...['--leader-lease', `${NAMESPACE}/${LEASE.name},kubeconfig=${kubeconfig}`],
      ]);
    const deployments = async () => {
      const path = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;
      return (await admin.json<KubeList<KubeObject>>(path)).items!.map(({ metadata }) => metadata.uid!).sort();
    };

    const [first, second] = [await serve('q1'), await serve('q2')];
    expect([await leads(first), await leads(second)]).toEqual([1, 0]);
    await put(first, 'engines/line', 'Engine', 'line', {
      versions: {
        v1: {
          ...{ tasks: ['text-generation'], metrics: 'vllm', images: { cpu: 'fake' } },
          command: [process.execPath, engine, '{port}'],
          // No scheduler binds them: the stand-in for the kubelet runs them without a node.
          pod: { schedulerName: 'none' },
        },
      },
    });
    await put(first, 'clusters/k8s', 'Cluster', 'k8s', {
      type: 'kubernetes',
      kubernetes: { kubeconfig, namespace: NAMESPACE },
    });
    const spec = { cluster: 'k8s', engine: { name: 'line' }, model: { name: 'm' } };
    await put(first, CHAT, 'Endpoint', 'chat', { ...spec, replicas: 2 });
    await until(async () => (await readyAt(first)) === 2);
    const before = await deployments();
    expect(before).toHaveLength(2);

    await put(first, 'workspaces/default/apikeys/web', 'ApiKey', 'web', {});
    const issued = await call(first, 'POST', 'workspaces/default/apikeys/web/issue');
    const { key } = JSON.parse(issued.text) as { key: string };
    const load = new Load(() => second.url, key);
    await until(async () => (await load.ask()) === 200);
    const loaded = load.start(4);
    const most = counting(deployments);
    afterwards(async () => void (await Promise.all([most.stop(), loaded.stop()])));

    // Killed: nothing is released.
    load.phase = 'killed';
    first.child.kill('SIGKILL');
    const killedMs = await timeUntil(async () => (await leads(second)) === 1);
    expect(await deployments()).toEqual(before);
    load.phase = 'scaled to 3';
    await put(second, CHAT, 'Endpoint', 'chat', { ...spec, replicas: 3 });
    await until(async () => (await readyAt(second)) === 3);

    // Stopped: released, and taken over at the next look.
    const third = await serve('q3');
    load.url = () => third.url;
    await until(async () => (await load.ask()) === 200);
    load.phase = 'stopped';
    second.child.kill('SIGTERM');
    const stoppedMs = await timeUntil(async () => (await leads(third)) === 1);
    await second.ended;

    // Suspended: it does nothing when it goes on, and follows.
    const fourth = await serve('q4');
    load.url = () => fourth.url;
    await until(async () => (await load.ask()) === 200);
    load.phase = 'suspended';
    third.child.kill('SIGSTOP');
    const suspendedMs = await timeUntil(async () => (await leads(fourth)) === 1);
    const more = {
      apiVersion: 'twinyard/v1',
      kind: 'Endpoint',
      metadata: { name: 'chat' },
      spec: { ...spec, replicas: 9 },
    };
    const change = call(third, 'PUT', CHAT, more);
    load.phase = 'continued';
    third.child.kill('SIGCONT');
    expect((await change).status).toBe(503);
    await until(async () => third.said().includes('another process has taken over'));
    expect(await leads(third)).toBe(0);
    load.phase = 'scaled to 1';
    await put(fourth, CHAT, 'Endpoint', 'chat', { ...spec, replicas: 1 });
    await until(async () => (await readyAt(fourth)) === 1 && (await deployments()).length === 1);

    expect(await most.stop()).toBe(3);
    const { lost, served } = await loaded.stop();
    expect([lost, served > 100]).toEqual([[], true]);
    expect((await lease()).spec!.leaseTransitions).toBe(3);
    // A third of a minute at most, by the specification; a busy machine takes longer.
    for (const ms of [killedMs, suspendedMs]) expect(ms).toBeLessThan(60_000);
    expect(stoppedMs).toBeLessThan(10_000);
    process.stdout.write(
      `killed ${killedMs} ms, stopped ${stoppedMs} ms, suspended ${suspendedMs} ms, ${served} requests\n`,
    );
    await call(fourth, 'DELETE', CHAT);
    await until(async () => (await deployments()).length === 0);
  }
});

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(50);
}

async function timeUntil(isSo: () => Promise<boolean>): Promise<number> {
  const start = performance.now();
  await until(isSo);
  return Math.round(performance.now() - start);
}

async function call({ adminUrl, token }: ServeProcess, method: string, path: string, body?: object) {
  const response = await fetch(`${adminUrl}/api/v1/${path}`, {
    ...{ method, headers: { authorization: `Bearer ${token}` } },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

async function put(server: ServeProcess, path: string, kind: string, name: string, spec: object): Promise<void> {
  const made = await call(server, 'PUT', path, { apiVersion: 'twinyard/v1', kind, metadata: { name }, spec });
  if (made.status > 201) throw new Error(`${path}: ${made.status} ${made.text}`);
}

const readyAt = async (server: ServeProcess) =>
  (JSON.parse((await call(server, 'GET', CHAT)).text) as { status?: { ready: number } }).status?.ready;

/** The metric `twinyard_leader`. */
async function leads({ adminUrl, token }: ServeProcess): Promise<number> {
  const response = await fetch(`${adminUrl}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  return Number(/^twinyard_leader (\d)$/m.exec(await response.text())?.[1]);
}

/** Counts until it is stopped; the highest number is the result. */
function counting(list: () => Promise<readonly unknown[]>): { stop: () => Promise<number> } {
  let isOver = false;
  let most = 0;
  const done = (async () => {
    while (!isOver) {
      most = Math.max(most, (await list()).length);
      await pause(100);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await done;
      return most;
    },
  };
}

/** Clients that send one request after another. */
class Load {
  /** What happens meanwhile, for what is lost. */
  phase = 'before';
  #said = '';

  constructor(
    public url: () => string,
    private readonly key: string,
  ) {}

  async ask(): Promise<number> {
    const headers = { authorization: `Bearer ${this.key}` };
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 2 });
    const response = await fetch(`${this.url()}/v1/chat/completions`, { method: 'POST', headers, body });
    this.#said = await response.text();
    return response.status;
  }

  start(clients: number): { stop: () => Promise<{ served: number; lost: unknown[] }> } {
    let isOver = false;
    let served = 0;
    const lost: unknown[] = [];
    const all = Array.from({ length: clients }, async () => {
      while (!isOver) {
        const status = await this.ask().catch((error: Error) => error.message);
        if (status === 200) served++;
        else lost.push(`${status}, ${this.phase}: ${this.#said}`);
        await pause(20);
      }
    });
    return {
      async stop() {
        isOver = true;
        await Promise.all(all);
        return { served, lost };
      },
    };
  }
}
