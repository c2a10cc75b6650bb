import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { GATEWAY_DEFAULTS } from '../../../gateway/config/gateway-config.js';
import { FakeEngine, startGateway, until } from '../../../gateway/fake-engine.fixture.js';
import type { Gateway } from '../../../gateway/gateway.js';
import { serveApi } from '../../api-server.js';

const PROMPT = 'planted-prompt';

let folder: string;
const opened: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-kept-'));
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true });
});

async function engineOf(): Promise<FakeEngine> {
  const engine = await FakeEngine.start();
  opened.push(() => engine.kill());
  return engine;
}

/** A gateway on the store of the test. */
async function served(engine: FakeEngine, keepHours = 24): Promise<Gateway> {
  const gateway = await startGateway([engine], {
    store: join(folder, 'store.db'),
    dataDir: folder,
    access: { ...GATEWAY_DEFAULTS.access, keys: 'off' },
    requests: { keepHours, mostRows: 1000 },
  });
  opened.push(() => gateway.close(0));
  gateway.api = serveApi(gateway);
  await until(() => gateway.isReady);
  return gateway;
}

async function chat(gateway: Gateway, id: string): Promise<void> {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: PROMPT }], user: 'planted-user' });
  const init = { method: 'POST', headers: { 'x-request-id': id }, body };
  await (await fetch(`${gateway.url}/v1/chat/completions`, init)).text();
  await until(() => gateway.inFlight === 0);
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the API returns
async function ask(gateway: Gateway, path: string): Promise<any> {
  const headers = { authorization: `Bearer ${gateway.adminToken}` };
  return (await fetch(`${gateway.adminUrl}/api/v1/${path}`, { headers })).json();
}

/** All pages of a list, and the total of the first. */
async function idsOf(gateway: Gateway, query: string): Promise<{ ids: string[]; total: number }> {
  const ids: string[] = [];
  let total = -1;
  for (let cursor = ''; ; ) {
    const page = await ask(gateway, `requests?${query}${cursor}`);
    if (total < 0) total = page.total;
    ids.push(...page.items.map(({ id }: { id: string }) => id));
    if (page.next === null) return { ids, total };
    cursor = `&cursor=${page.next}`;
  }
}

it('finds requests of former runs in the store, with their times and decisions, and joins them with those in memory', async () => {
  const engine = await engineOf();
  const first = await served(engine);
  for (const id of ['a-1', 'a-2', 'a-3']) await chat(first, id);
  const [before, explained] = [await ask(first, 'requests/a-2'), await ask(first, 'decisions/a-2')];
  // What has ended is written at the end, whatever was written before.
  await first.close(0);
  const second = await served(engine);
  for (const id of ['b-1', 'b-2']) await chat(second, id);
  const all = ['b-2', 'b-1', 'a-3', 'a-2', 'a-1'];
  for (const limit of [1, 2, 4, 100]) expect(await idsOf(second, `limit=${limit}`)).toEqual({ ids: all, total: 5 });
  // The same while some of them are in memory and in the store.
  await second.traffic.services.keeper!.turn();
  for (const limit of [2, 100]) expect(await idsOf(second, `limit=${limit}`)).toEqual({ ids: all, total: 5 });
  expect(await idsOf(second, 'id=a-&outcome=ok&endpoint=default')).toEqual({ ids: ['a-3', 'a-2', 'a-1'], total: 3 });
  expect((await idsOf(second, 'endpoint=none')).total).toBe(0);
  expect((await idsOf(second, `to=${before.at}`)).ids).toEqual(['a-1']);
  expect((await idsOf(second, 'within_s=100000')).total).toBe(5);
  expect((await ask(second, 'requests?from=yesterday')).error.message).toContain('is not a date with a time');
  expect(await ask(second, 'requests/a-2')).toEqual(before);
  const kept = await ask(second, 'decisions/a-2');
  expect(kept).toMatchObject({ id: 'a-2', policy: explained.policy, replica: explained.replica, replicaCount: 1 });
  expect(kept.replicas[0]).toMatchObject({ id: explained.replicas[0].id, terms: expect.anything() });
  expect(Object.keys(kept.replicas[0].terms)).toEqual(Object.keys(explained.replicas[0].terms));
  // What would have flipped decisions is searched for some milliseconds of a batch: at least for one of them.
  const flips = await Promise.all(['a-1', 'a-2', 'a-3'].map(async (id) => (await ask(second, `decisions/${id}`)).flip));
  expect(flips).toContainEqual(explained.flip);
  expect(explained.flip).toMatchObject({ change: null, eligible: 1 });
});

it('shows the requests of another gateway on the same store', async () => {
  const engine = await engineOf();
  const [one, other] = [await served(engine), await served(engine)];
  await chat(one, 'of-one');
  await chat(other, 'of-other');
  await one.traffic.services.keeper!.turn();
  expect((await idsOf(other, 'limit=1')).ids).toEqual(['of-other', 'of-one']);
  expect(await ask(other, 'requests/of-one')).toMatchObject({ id: 'of-one', outcome: 'ok' });
});

it('keeps no prompt, no response and no name that a client chose for a session', async () => {
  const gateway = await served(await engineOf());
  await chat(gateway, 'seen-id');
  await gateway.close(0);
  const bytes = readdirSync(folder)
    .filter((name) => name.startsWith('store.db'))
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join();
  expect(bytes.includes('seen-id')).toBe(true);
  expect(bytes.includes('planted')).toBe(false);
});

it('keeps nothing where the setting is 0', async () => {
  const engine = await engineOf();
  const first = await served(engine, 0);
  await chat(first, 'a-1');
  await first.close(0);
  expect(await idsOf(await served(engine), 'limit=9')).toEqual({ ids: [], total: 0 });
});

it('lists what is in memory while the store cannot be read, and says so', async () => {
  const gateway = await served(await engineOf());
  await chat(gateway, 'a-1');
  await gateway.store!.exclusively((tx) => tx.schema.dropTable('requests').execute());
  const { items, store_problem } = await ask(gateway, 'requests');
  expect(items).toMatchObject([{ id: 'a-1' }]);
  expect(store_problem).toContain('no such table');
});
