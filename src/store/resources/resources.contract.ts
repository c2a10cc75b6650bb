import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { StoreTransaction } from '../database/database.js';
import type { TestStores } from '../stores.fixture.js';
import type { PageOrder, ResourceFilter } from './pages/resource-conditions.js';
import { ResourceConflict } from './resource-errors.js';
import { ResourceEvents } from './resource-events.js';
import type { ResourceChange, ResourceRecord } from './resource-record.js';
import type { Expected } from './resource-transaction.js';
import { Resources } from './resources.js';

const REF = { kind: 'Endpoint', workspace: 'default', name: 'chat' };

const put = (resources: Resources, spec: object, expected: Expected = 'any', labels: Record<string, string> = {}) =>
  resources.change('alice', (tx) => tx.put(REF, { spec: { ...spec }, labels }, expected));

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const one of items) found.push(one);
  return found;
}

/** Endpoints of two workspaces, many of which were created in the same millisecond. */
async function fillResources(tx: StoreTransaction, count: number): Promise<void> {
  await sql`insert into resources (kind, workspace, name, uid, generation, resource_version, spec_version, spec, status, labels,
      created_at, updated_at)
    with recursive n(i) as (select 0 union all select i + 1 from n where i < ${sql.lit(count - 1)})
    select 'Endpoint', case when i % 2 = 0 then 'a' else 'B' end, 'e_' || cast(10000 + i as text), 'u' || cast(i as text), 1, i, i,
      '{}', case when i % 100 = 1 then '{"phase":"Failed"}' else '{"phase":"Running"}' end,
      case when i % 3 = 0 then '{"team":"x"}' else '{}' end, (i * 7919) % 500, 0 from n`.execute(tx);
}

/** The contract for resources in any store. */
export function resourcesContract(stores: TestStores): void {
  const fresh = async () => new Resources(await stores.fresh());

  describe('resources', () => {
    it('are created, found, listed in order, and read back unchanged', async () => {
      const resources = await fresh();
      expect(await resources.version()).toBe(0);
      const made = await put(resources, { replicas: 3, text: 'naïve \0 \u{1f600}', deep: [{ a: null }] }, null, {
        team: 'x',
      });
      expect(made).toMatchObject({ ...REF, generation: 1, resourceVersion: 1, status: null, deletedAt: null });
      expect(await resources.get(REF)).toEqual(made);
      expect(await resources.get({ ...REF, name: 'other' })).toBeNull();
      await resources.change('alice', async (tx) => {
        for (const name of ['b', 'Z', 'a']) await tx.put({ ...REF, name }, { spec: {}, labels: {} });
        expect(await tx.list('Endpoint')).toHaveLength(4);
      });
      expect((await resources.list({ kind: 'Endpoint', workspace: 'default' })).map(({ name }) => name)).toEqual([
        'Z',
        'a',
        'b',
        'chat',
      ]);
      expect(await resources.list({ kind: 'Role' })).toEqual([]);
      const { uid } = (await resources.get(REF))!;
      expect([...(await resources.placesOf([uid, 'none']))]).toEqual([[uid, REF]]);
      expect(await resources.version()).toBe(4);
    });

    it('are read in pages, by name or in the order of their changes, each once', async () => {
      const resources = await fresh();
      const names = Array.from({ length: 501 }, (_, i) => `e${String(i).padStart(3, '0')}`);
      await resources.change('alice', async (tx) => {
        for (const name of names) await tx.put({ ...REF, name }, { spec: {}, labels: {} });
        await tx.put({ ...REF, kind: 'Role' }, { spec: {}, labels: {} });
      });
      await resources.change('alice', (tx) => tx.put({ ...REF, name: 'e000' }, { spec: { a: 1 }, labels: {} }));
      const refs = async (kinds: string[] | null) => (await all(resources.eachRef(kinds))).length;
      expect([await refs(null), await refs(['Endpoint']), await refs(['Role', 'Engine'])]).toEqual([502, 501, 1]);
      const changed = async (since: number, kinds: string[]) =>
        (await all(resources.changedSince(since, kinds))).map(({ name }) => name);
      expect(await changed(0, ['Endpoint'])).toEqual([...names.slice(1), 'e000']);
      expect(await changed(500, ['Endpoint', 'Role'])).toEqual(['e500', 'chat', 'e000']);
      expect(await changed(503, ['Endpoint'])).toEqual([]);
    });

    it('are paged by name or by creation, both ways, by search, labels and phase, without a gap or a duplicate', async () => {
      const store = await stores.fresh();
      const resources = new Resources(store);
      await store.exclusively((tx) => fillResources(tx, 4100));
      const expected = Array.from({ length: 4100 }, (_, i) => ({
        ...{ i, workspace: i % 2 === 0 ? 'a' : 'B', name: `e_${10_000 + i}`, createdAt: (i * 7919) % 500 },
      }));
      const pages = async (filter: Omit<ResourceFilter, 'kind'>, limit: number) => {
        const seen: ResourceRecord[] = [];
        for (;;) {
          const page = await resources.page({ kind: 'Endpoint', ...filter }, seen.at(-1) ?? null, limit);
          seen.push(...page);
          if (page.length < limit) return seen.map(({ name }) => name);
        }
      };
      const count = (filter: Omit<ResourceFilter, 'kind'>) => resources.countFitting({ kind: 'Endpoint', ...filter });
      const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);
      const byName = [...expected].sort((a, b) => compare(a.workspace, b.workspace) || compare(a.name, b.name));
      const byTime = [...byName].sort((a, b) => a.createdAt - b.createdAt);
      const names = (all: typeof expected, isWanted: (i: number) => boolean = () => true) =>
        all.filter(({ i }) => isWanted(i)).map(({ name }) => name);
      const order = (by: PageOrder['by'], isDescending: boolean) => ({ order: { by, isDescending } });
      expect(await pages({}, 1500)).toEqual(names(byName));
      expect(await pages(order('created', false), 1500)).toEqual(names(byTime));
      expect(await pages(order('created', true), 1500)).toEqual(names(byTime).reverse());
      const inSearch = (i: number) => `${10_000 + i}`.includes('99');
      expect(await pages({ search: '99', ...order('name', true) }, 40)).toEqual(names(byName, inSearch).reverse());
      expect(await pages({ search: '99', ...order('created', false) }, 40)).toEqual(names(byTime, inSearch));
      const failed = (i: number) => i % 100 === 1;
      expect(await pages({ phase: 'Failed', ...order('created', true) }, 15)).toEqual(names(byTime, failed).reverse());
      expect((await resources.placesOf([])).size).toBe(0);
      expect(await pages({ search: 'e%' }, 40)).toEqual([]);
      expect(await pages({ search: 'e_14099' }, 40)).toEqual(['e_14099']);
      expect(await pages({ search: 'e11' }, 40)).toEqual([]);
      expect([await count({}), await count({ workspace: 'a' }), await count({ workspaces: ['B', 'c'] })]).toEqual([
        ...[4100, 2050, 2050],
      ]);
      expect(await count({ search: '99' })).toBe(names(byName, inSearch).length);
      expect([await count({ search: 'e%' }), await count({ search: 'e_14099' })]).toEqual([0, 1]);
      const third = (i: number) => i % 3 === 0;
      expect(await pages({ labelParts: ['"team":"x"'], workspace: 'a' }, 500)).toEqual(
        names(byName, (i) => third(i) && i % 2 === 0),
      );
      expect(await pages({ phase: 'Failed', workspaces: ['B'] }, 500)).toEqual(
        names(byName, (i) => i % 100 === 1 && i % 2 === 1),
      );
    });

    it('have a generation that grows only with the spec, and a version that grows with every change', async () => {
      const resources = await fresh();
      const { uid } = await put(resources, { a: 1 });
      expect(await put(resources, { a: 1 })).toMatchObject({ generation: 1, resourceVersion: 1 });
      expect(await put(resources, { a: 1 }, 'any', { l: 'x' })).toMatchObject({ generation: 1, resourceVersion: 2 });
      expect(await put(resources, { a: 2 })).toMatchObject({ generation: 2, resourceVersion: 3, specVersion: 3 });
      const status = (value: object) =>
        resources.change('system', (tx) => tx.putStatus(REF, uid, { ...value }), 'past-crashes');
      expect(await status({ phase: 'Running' })).toMatchObject({
        spec: { a: 2 },
        generation: 2,
        resourceVersion: 4,
        specVersion: 3,
      });
      expect(await status({ phase: 'Running' })).toMatchObject({ resourceVersion: 4 });
      expect(await resources.change('system', (tx) => tx.putStatus(REF, 'another', {}))).toBeNull();
    });

    it('refuse a change for an outdated version, and audit every change with its actor', async () => {
      const resources = await fresh();
      const first = await put(resources, { a: 1, b: 1 }, null);
      await resources.change('system', (tx) => tx.putStatus(REF, first.uid, { phase: 'Running' }));
      await put(resources, { a: 2, b: 1 }, first.resourceVersion);
      const refusal = await put(resources, { a: 3, b: 1 }, first.resourceVersion).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(ResourceConflict);
      expect(refusal).toMatchObject({
        code: 'RESOURCE_CONFLICT',
        current: { spec: { a: 2, b: 1 } },
        differences: [{ path: 'spec.a', before: 1, after: 2 }],
        message:
          'Endpoint default/chat: has been changed since version 1 by alice: spec.a was 1, is 2; it is at version 3 now',
      });
      await expect(put(resources, {}, null)).rejects.toThrow('Endpoint default/chat: already exists (version 3)');
      await expect(put(resources, {}, 99)).rejects.toThrow('has been changed since version 99; it is at version 3 now');
      const gone = resources.change('a', (tx) => tx.put({ ...REF, name: 'x' }, { spec: {}, labels: {} }, 5));
      await expect(gone).rejects.toThrow('Endpoint default/x: no longer exists (the change is for version 5)');
      expect((await resources.get(REF))!.spec).toEqual({ a: 2, b: 1 });
    });

    it('report the first few of many differences', async () => {
      const resources = await fresh();
      const keys = (value: number) => Object.fromEntries([...'abcdefg'].map((key) => [key, value]));
      await put(resources, keys(1));
      await put(resources, keys(2));
      await expect(put(resources, {}, 1)).rejects.toThrow(/spec\.e was 1, is 2; and 2 more; it is at version 2 now$/);
    });

    it('lose none of many concurrent changes, each made for the version it read', async () => {
      const address = await stores.freshAddress();
      const shared = [new Resources(await stores.open(address)), new Resources(await stores.open(address))];
      await put(shared[0]!, { n: 0 });
      const raise = async (resources: Resources): Promise<void> => {
        const { resourceVersion, spec } = (await resources.get(REF))!;
        try {
          await put(resources, { n: (spec.n as number) + 1 }, resourceVersion);
        } catch (error) {
          if (!(error instanceof ResourceConflict)) throw error;
          return raise(resources);
        }
      };
      await Promise.all(Array.from({ length: 16 }, (_, i) => raise(shared[i % 2]!)));
      expect(await shared[0]!.get(REF)).toMatchObject({ spec: { n: 16 }, generation: 17, resourceVersion: 17 });
    });

    it('are deleted in two steps, and a new one of the same name has another uid', async () => {
      const resources = await fresh();
      const { uid } = await put(resources, { a: 1 });
      const remove = () => resources.change('system', (tx) => tx.remove(REF, uid));
      const deleted = () => resources.change('bob', (tx) => tx.markDeleted(REF));
      expect(await remove()).toBe(false);
      expect(await deleted()).toMatchObject({ generation: 1, resourceVersion: 2, deletedAt: expect.any(Number) });
      expect(await deleted()).toMatchObject({ resourceVersion: 2 });
      await expect(put(resources, { a: 2 })).rejects.toMatchObject({ code: 'RESOURCE_DELETING' });
      expect(await remove()).toBe(true);
      expect(await resources.get(REF)).toBeNull();
      await expect(deleted()).rejects.toMatchObject({
        code: 'RESOURCE_UNKNOWN',
        message: expect.stringContaining('chat'),
      });
      expect((await put(resources, { a: 1 })).uid).not.toBe(uid);
    });

    it('change together or not at all, and watchers get committed changes in order', async () => {
      const resources = await fresh();
      const heard: ResourceChange[] = [];
      const stop = resources.watch((changes) => heard.push(...changes));
      const failed = resources.change('alice', async (tx) => {
        await tx.put(REF, { spec: {}, labels: {} });
        throw new Error('changed my mind');
      });
      await expect(failed).rejects.toThrow('changed my mind');
      expect([await resources.list(), await resources.audit(), heard]).toEqual([[], [], []]);
      await Promise.all([put(resources, { a: 1 }), put(resources, { a: 2 }), put(resources, { a: 2 })]);
      expect(heard.map(({ type, version }) => [type, version])).toEqual([
        ['created', 1],
        ['changed', 2],
      ]);
      stop();
      await put(resources, { a: 3 });
      expect(heard).toHaveLength(2);
    });

    it('have an audit log of actor, action, before and after', async () => {
      const resources = await fresh();
      await put(resources, { a: 1, token: { $sealed: 'v1.x.y' } });
      await put(resources, { a: 2, token: { $sealed: 'v1.x.z' } });
      await resources.change('bob', (tx) => tx.markDeleted(REF));
      const log = await resources.audit({ kind: 'Endpoint' });
      expect(log.map(({ action, actor, version }) => [version, actor, action])).toEqual([
        [3, 'bob', 'delete'],
        [2, 'alice', 'update'],
        [1, 'alice', 'create'],
      ]);
      expect(log[1]).toMatchObject({
        before: { spec: { a: 1, token: '***' }, labels: {} },
        after: { spec: { a: 2, token: '***' } },
        at: expect.any(Number),
      });
      expect(log[2]!.before).toBeNull();
      expect(await resources.audit({ actor: 'bob', limit: 5 })).toHaveLength(1);
      expect(await resources.audit({ after: 1 })).toHaveLength(2);
    });

    it('have audited status changes in it, which are not conflicts', async () => {
      const resources = await fresh();
      const { resourceVersion, uid } = await put(resources, { a: 1 });
      const issue = (hint: string) => resources.change('bob', (tx) => tx.putStatus(REF, uid, { hint }, 'issue'));
      await issue('x');
      expect(await issue('x')).toMatchObject({ resourceVersion: 3, specVersion: 1 });
      expect(await resources.audit({ actor: 'bob' })).toMatchObject([
        {
          action: 'issue',
          version: 3,
          before: { status: { hint: 'x' } },
          after: { spec: { a: 1 }, status: { hint: 'x' } },
        },
        { action: 'issue', version: 2, before: { status: null } },
      ]);
      expect(await resources.audit({ declared: true })).toMatchObject([{ action: 'create' }]);
      await put(resources, { a: 2 }, resourceVersion);
      await expect(put(resources, { a: 3 }, resourceVersion)).rejects.toMatchObject({
        message: expect.stringContaining('since version 1 by alice: spec.a was 1, is 2; it is'),
        differences: [{ path: 'spec.a' }],
      });
    });
  });

  describe('events', () => {
    const of = (name: string) => ({ kind: 'Endpoint', workspace: 'default', name, uid: `uid-${name}` });

    it('are counted while they repeat, and the latest come first', async () => {
      const events = new ResourceEvents(await stores.fresh());
      await events.add(of('a'), 'normal', 'Started', 'one');
      await events.add(of('a'), 'normal', 'Started', 'one');
      await events.add(of('b'), 'warning', 'Crashed', 'two\0');
      await events.add(of('a'), 'normal', 'Started', 'other');
      const all = await events.list({});
      expect(all.map(({ count, message, name }) => [name, message, count])).toEqual([
        ['a', 'other', 1],
        ['b', 'two\ufffd', 1],
        ['a', 'one', 2],
      ]);
      expect(await events.list({ name: 'b' })).toMatchObject([{ type: 'warning', reason: 'Crashed', uid: 'uid-b' }]);
      expect(await events.list({ uid: 'uid-a', limit: 1 })).toHaveLength(1);
    });

    it('are counted when they alternate, each where it was seen last, while that is recent', async () => {
      const store = await stores.fresh();
      let now = 1_000_000;
      const clocked = { db: store.db, exclusively: store.exclusively.bind(store), now: async () => now };
      const events = new ResourceEvents(clocked);
      const told = async () =>
        (await events.list({})).map(({ count, firstAt, lastAt, message }) => [message, count, firstAt, lastAt]);
      for (const message of ['up', 'down', 'up', 'down', 'up']) {
        await events.add(of('a'), message === 'up' ? 'normal' : 'warning', 'Health', message);
        now += 60_000;
      }
      expect(await told()).toEqual([
        ['up', 3, 1_000_000, 1_240_000],
        ['down', 2, 1_060_000, 1_180_000],
      ]);
      // The same message with another type, reason or resource is another event.
      await events.add(of('a'), 'normal', 'Health', 'down');
      await events.add(of('a'), 'warning', 'Other', 'down');
      await events.add(of('b'), 'warning', 'Health', 'down');
      expect((await told()).map(([message, count]) => [message, count])).toEqual([
        ['down', 1],
        ['down', 1],
        ['down', 1],
        ['up', 3],
        ['down', 2],
      ]);
      // The last event of a resource is counted whenever it recurs; others only while recent.
      now += 3_600_001;
      await events.add(of('a'), 'warning', 'Other', 'down');
      await events.add(of('a'), 'normal', 'Health', 'up');
      expect((await events.list({ uid: 'uid-a' })).map(({ count, reason }) => [reason, count]).slice(0, 3)).toEqual([
        ['Health', 1],
        ['Other', 2],
        ['Health', 1],
      ]);
    });

    it('are added again after many others', async () => {
      const events = new ResourceEvents(await stores.fresh());
      for (let i = 0; i < 9; i++) await events.add(of('a'), 'normal', 'Step', `a${i}`);
      await events.add(of('a'), 'normal', 'Step', 'a1');
      await events.add(of('a'), 'normal', 'Step', 'a0');
      const counts = (await events.list({})).map(({ count, message }) => `${message}x${count}`);
      expect(counts).toEqual(['a0x1', 'a1x2', 'a8x1', 'a7x1', 'a6x1', 'a5x1', 'a4x1', 'a3x1', 'a2x1', 'a0x1']);
    });

    it('are deleted when there are too many of one resource, or in total', async () => {
      const events = new ResourceEvents(await stores.fresh(), { perResource: 3, total: 5 });
      for (let i = 0; i < 5; i++) await events.add(of('a'), 'normal', 'Step', `a${i}`);
      expect((await events.list({})).map(({ message }) => message)).toEqual(['a4', 'a3', 'a2']);
      for (let i = 0; i < 3; i++) await events.add(of('b'), 'normal', 'Step', `b${i}`);
      expect((await events.list({})).map(({ message }) => message)).toEqual(['b2', 'b1', 'b0', 'a4', 'a3']);
    });
  });
}
