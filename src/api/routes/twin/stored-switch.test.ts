import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ChangeFeed } from '../../../control/change-feed.js';
import { PolicyRestorer } from '../../../control/policy-restorer.js';
import { FakeTiming } from '../../../control/reconcile/fake-timing.fixture.js';
import { type EndpointSpec, endpointPolicy } from '../../../control/resources/kinds/endpoint.js';
import { ControlStore } from '../../../control/store/control-store.js';
import { SWITCHED_FROM } from '../../../control/store/guarded-policy.js';
import { installDefaults } from '../../../control/store/install-defaults.js';
import { FakeEngine, startGateway, until } from '../../../gateway/fake-engine.fixture.js';
import type { Gateway } from '../../../gateway/gateway.js';
import { openStore } from '../../../store/open-store.js';
import { SecretBox } from '../../../store/resources/secrets.js';
import { ApiHost } from '../../api-host.js';
import { ADMIN, caller } from '../../fake-api.fixture.js';
import { FakeRunner } from '../../fake-runner.fixture.js';
import { JobBoard } from '../../jobs/job-board.js';
import { respond } from '../../respond.js';
import { StoredSwitch } from './stored-switch.js';

const REF = { kind: 'Endpoint', workspace: 'default', name: 'chat' };
const ONE = '/api/v1/workspaces/default/endpoints/chat';
const CHAT = {
  ...{ apiVersion: 'twinyard/v1', kind: 'Endpoint', metadata: { name: 'chat', labels: { team: 'search' } } },
  spec: {
    ...{ engine: { name: 'emulator' }, model: { name: 'qwen/qwen3-14b' }, replicas: 2 },
    ...{ routing: { policy: 'round-robin' }, admission: { policy: 'tier-shed' } },
  },
};
const NEW = { policy: 'lmetric' };
const signal = new AbortController().signal;

const opened: (() => unknown)[] = [];
let gateway: Gateway;
let store: ControlStore;
let host: ApiHost;

// biome-ignore lint/suspicious/noExplicitAny: whatever the API returns
type Body = any;

async function ask(
  line: string,
  body: object = {},
  as = ADMIN,
  ifMatch?: string,
): Promise<{ status: number; body: Body }> {
  const [method, path] = line.split(' ') as [string, string];
  return (await respond(host, as, {
    ...{ method, path, query: new URLSearchParams() },
    header: (name) => (name === 'if-match' ? ifMatch : undefined),
    ...{ body: async () => JSON.stringify(body), signal },
  })) as { status: number; body: Body };
}

beforeEach(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'twinyard-switch-'));
  opened.push(() => rmSync(folder, { recursive: true }));
  const engine = await FakeEngine.start();
  opened.push(() => engine.kill());
  gateway = await startGateway([]);
  opened.push(() => gateway.close(0));
  const db = await openStore(':memory:');
  opened.push(() => db.close());
  store = new ControlStore(db, SecretBox.open(join(folder, 'secrets.key')));
  await installDefaults(store);
  const feed = await ChangeFeed.open(store.resources);
  opened.push(() => feed.close());
  // In place of reconcilers: the gateway follows the spec.
  store.resources.watch((changes) => {
    for (const { record } of changes) {
      if (record.kind !== 'Endpoint') continue;
      const replicas = [{ id: `${record.name}-0`, url: engine.url, engine: 'vllm', models: ['m'] }];
      const policy = endpointPolicy(record.spec as EndpointSpec, (path) => path);
      gateway.routes.put({ workspace: record.workspace, name: record.name, policy, replicas, models: ['m'] });
    }
  });
  const jobs = new JobBoard();
  opened.push(() => jobs.close());
  const control = Promise.resolve({ host: { store, feed, runner: new FakeRunner(), drain: () => true } });
  host = new ApiHost({ store: db, gateway, control, jobs });
  expect((await ask(`PUT ${ONE}`, CHAT)).status).toBe(201);
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const inForce = () => gateway.endpoints.get('default/chat')!.policy.name;
const specNow = async () => (await store.get(REF))!.spec as unknown as EndpointSpec;
const labelsNow = async () => (await store.get(REF))!.metadata.labels;
const opening = () =>
  StoredSwitch.open(
    host,
    { caller: ADMIN, params: { workspace: 'default', name: 'chat' }, header: () => undefined },
    NEW,
  );

const faults: unknown[] = [];
const timing = new FakeTiming();
const restorePolicies = () => {
  const restorer = new PolicyRestorer({ store, timing, isLeading: () => true, onFault: (error) => faults.push(error) });
  opened.push(() => restorer.close());
  return restorer.begin();
};

describe('a switch of an Endpoint in the store', () => {
  it('is a revision that a label marks, and going back is another one; both are audited', async () => {
    const target = await opening();
    await target.apply(signal);
    expect([inForce(), await labelsNow()]).toEqual(['lmetric', { team: 'search', [SWITCHED_FROM]: '1' }]);
    expect((await specNow()).admission!.policy).toBe('tier-shed');
    expect([await target.isOwn(), await target.restore(), await target.isOwn()]).toEqual([true, true, false]);
    expect([inForce(), await labelsNow()]).toEqual(['round-robin', { team: 'search' }]);
    expect(await target.restore()).toBe(false);
    const audit = await store.resources.audit({ name: 'chat' });
    expect(audit.map(({ action, actor }) => [action, actor])).toEqual([
      ['update', 'alice'],
      ['update', 'alice'],
      ['create', 'alice'],
    ]);
    const revisions = (await ask(`GET ${ONE}/revisions`)).body.items;
    expect(revisions.map(({ spec }: Body) => spec.routing.policy)).toEqual(['round-robin', 'lmetric', 'round-robin']);
  });

  it('stays when it is kept, without the label', async () => {
    const target = await opening();
    await target.apply(signal);
    await target.keep();
    expect([await target.restore(), inForce(), await labelsNow()]).toEqual([false, 'lmetric', { team: 'search' }]);
  });

  it('keeps other changes that are made while it is watched', async () => {
    const target = await opening();
    await target.apply(signal);
    expect((await ask(`PUT ${ONE}/scale`, { replicas: 5 })).status).toBe(200);
    expect([await target.isOwn(), await target.restore()]).toEqual([true, true]);
    const { replicas, routing } = await specNow();
    expect([replicas, routing!.policy]).toEqual([5, 'round-robin']);
  });

  it.each([
    ['another policy', { ...CHAT, spec: { ...CHAT.spec, routing: { policy: 'unified' } } }, 'unified'],
    ['the same policy as a whole', { ...CHAT, spec: { ...CHAT.spec, routing: NEW } }, 'lmetric'],
  ])('leaves an endpoint alone to which %s was applied meanwhile', async (_, applied, policy) => {
    const target = await opening();
    await target.apply(signal);
    expect((await ask(`PUT ${ONE}`, applied)).status).toBe(200);
    expect([await target.isOwn(), await target.restore(), inForce()]).toEqual([false, false, policy]);
    expect(await labelsNow()).toEqual({ team: 'search' });
  });

  it('leaves an endpoint alone that was deleted', async () => {
    const target = await opening();
    await target.apply(signal);
    await ask(`DELETE ${ONE}`);
    expect([await target.isOwn(), await target.restore()]).toEqual([false, false]);
  });

  it('goes back with the next control plane where the process was killed', async () => {
    await (await opening()).apply(signal);
    await ask(`PUT ${ONE}/scale`, { replicas: 3 });
    await restorePolicies();
    const { replicas, routing } = await specNow();
    expect([replicas, routing!.policy, inForce()]).toEqual([3, 'round-robin', 'round-robin']);
    expect(await labelsNow()).toEqual({ team: 'search' });
    expect((await store.resources.audit({ name: 'chat' }))[0]!.actor).toBe('control-plane');
    const [event] = await store.events.list({ name: 'chat' });
    expect([event!.reason, event!.message]).toEqual([
      'PolicyRestored',
      expect.stringContaining('back to the former policy'),
    ]);
    const before = (await store.get(REF))!.metadata.resource_version;
    await restorePolicies();
    expect((await store.get(REF))!.metadata.resource_version).toBe(before);
  });

  it('goes back once the store takes it, whatever else fails; a switch made meanwhile stays', async () => {
    await (await opening()).apply(signal);
    const second = { ...CHAT, metadata: { name: 'a-first', labels: { [SWITCHED_FROM]: '1' } } };
    await ask('PUT /api/v1/workspaces/default/endpoints/a-first', second);
    const third = { ...CHAT, metadata: { name: 'later', labels: {} } };
    await ask('PUT /api/v1/workspaces/default/endpoints/later', third);
    const { apply } = store;
    let failing = ['a-first'];
    store.apply = (actor, wanted, options) =>
      actor === 'control-plane' && failing.includes(wanted[0]!.resource.metadata.name)
        ? Promise.reject(new Error('the disk is full'))
        : apply.call(store, actor, wanted, options);
    await restorePolicies();
    expect([inForce(), await labelsNow()]).toEqual(['round-robin', { team: 'search' }]);
    const [event] = await store.events.list({ name: 'a-first' });
    expect([event!.reason, event!.message]).toEqual(['PolicyNotRestored', expect.stringContaining('the disk is full')]);
    expect(faults).toHaveLength(1);
    const later = { kind: 'Endpoint', workspace: 'default', name: 'later' };
    const switched = { metadata: { labels: { [SWITCHED_FROM]: '1' } }, spec: { routing: NEW } };
    expect((await ask('PATCH /api/v1/workspaces/default/endpoints/later', switched)).status).toBe(200);
    await timing.pass(1000);
    failing = [];
    await timing.pass(3000);
    await until(() => timing.next === null);
    const labels = async (name: string) => (await store.get({ ...later, name }))!.metadata.labels;
    expect([await labels('a-first'), await labels('later')]).toEqual([{}, { [SWITCHED_FROM]: '1' }]);
    expect(faults).toHaveLength(1);
  });

  it('keeps the policy with the next control plane where the former one is not known any more', async () => {
    await ask(`PATCH ${ONE}`, { metadata: { labels: { [SWITCHED_FROM]: '99' } } });
    await restorePolicies();
    expect([(await specNow()).routing!.policy, await labelsNow()]).toEqual(['round-robin', { team: 'search' }]);
  });
});

describe('POST policy/switch of an Endpoint in the store', () => {
  const guard = { metric: 'e2e_p90', most: 100 };

  it('watches it, and goes back when the job is cancelled', async () => {
    const body = '{"model":"m","messages":[{"role":"user","content":"hello"}]}';
    for (let i = 0; i < 60; i++) {
      await (await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', body })).text();
    }
    await until(() => gateway.traffic.requests.size >= 60);
    const { body: job, status } = await ask(`POST ${ONE}/policy/switch`, { policy: NEW, guard, watch: '1h' });
    expect(status).toBe(202);
    await until(() => inForce() === 'lmetric');
    const cancelled = await ask(`DELETE /api/v1/jobs/${job.id}`);
    expect([cancelled.body.state, inForce()]).toEqual(['cancelled', 'round-robin']);
  });

  it('refuses at once what was made for another version of the Endpoint', async () => {
    const seen = String((await store.get(REF))!.metadata.resource_version);
    await ask(`PUT ${ONE}`, { ...CHAT, spec: { ...CHAT.spec, routing: { policy: 'random' } } });
    const late = await ask(`POST ${ONE}/policy/switch`, { policy: NEW, guard }, ADMIN, seen);
    expect([late.status, late.body.error.code]).toEqual([409, 'RESOURCE_CONFLICT']);
    const now = String((await store.get(REF))!.metadata.resource_version);
    expect((await ask(`POST ${ONE}/policy/switch`, { policy: NEW, guard }, ADMIN, now)).status).toBe(202);
  });

  it('refuses the present policy, keys that an Endpoint does not have, and callers without the role', async () => {
    const same = await opening()
      .then(async (target) => {
        await target.apply(signal);
        return opening().then((again) => again.apply(signal));
      })
      .catch((error) => error.code);
    expect(same).toBe('API_POLICY_IN_FORCE');
    const other = { policy: { routing: NEW, tenant_budgets: { a: 0.5 } }, guard };
    const refused = await ask(`POST ${ONE}/policy/switch`, other);
    expect([refused.status, refused.body.error.message]).toEqual([
      400,
      expect.stringContaining('policy.tenant_budgets'),
    ]);
    const viewer = caller('none', { default: 'viewer' });
    expect((await ask(`POST ${ONE}/policy/switch`, { policy: NEW, guard }, viewer)).status).toBe(403);
  });
});
