import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKey } from '../keys/new-key.fixture.js';
import { openStore, type Store } from '../open-store.js';
import { saveGateway } from '../quota/gateways.js';
import { keptRequest } from '../requests/kept-request.fixture.js';
import { ResourceEvents } from '../resources/resource-events.js';
import type { ResourceTransaction } from '../resources/resource-transaction.js';
import { Resources } from '../resources/resources.js';
import type { TestStores } from '../stores.fixture.js';
import { used } from '../usage/used.fixture.js';
import { backUp } from './backup.js';
import { TABLES } from './backup-tables.js';
import { restore } from './restore.js';

/** The tables of a store, as far as a backup holds them. */
async function contents(store: Store): Promise<unknown> {
  const tables: Record<string, unknown[]> = {};
  for (const { key, name } of TABLES) {
    const rows = await store.db.selectFrom(name).selectAll().execute();
    const text = (row: object) => JSON.stringify(key.map((column) => (row as Record<string, unknown>)[column]));
    tables[name] = rows.sort((a, b) => (text(a) < text(b) ? -1 : 1));
  }
  return tables;
}

/** More roles than a backup is written and read at once. */
const MANY = 1100;

async function fillStore(store: Store, roles = MANY): Promise<void> {
  await newKey(store, 'alice', { models: ['m'], limits: { '*': { tokens_per_day: 5 } } });
  await store.usage.fold('journal', [used({ model: 'naïve', costNanos: Number.MAX_SAFE_INTEGER })]);
  const resources = new Resources(store);
  await resources.change('alice', async (tx) => {
    for (let i = 0; i < roles; i++) {
      await tx.put({ kind: 'Role', workspace: 'w', name: `r${i}` }, { spec: { i }, labels: {} });
    }
    await tx.markDeleted({ kind: 'Role', workspace: 'w', name: 'r7' });
  });
  const [role] = await resources.list();
  await new ResourceEvents(store).add(role!, 'normal', 'Made', 'all is well');
}

/** The contract for a backup of any store. */
export function backupContract(stores: TestStores): void {
  describe('a backup', () => {
    let folder: string;
    let files = 0;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'twinyard-backup-'));
    });
    afterAll(() => rmSync(folder, { recursive: true }));
    const freshPath = () => join(folder, `it's ${++files}.backup`);

    async function backedUp(roles = MANY): Promise<{ path: string; store: Store; address: string }> {
      const address = await stores.freshAddress();
      const store = await stores.open(address);
      await fillStore(store, roles);
      const path = freshPath();
      await backUp(address, store, path);
      return { path, store, address };
    }

    it('restores everything, into the same kind of database and into SQLite', async () => {
      const { address, path, store } = await backedUp();
      const before = await contents(store);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      const bytes = readFileSync(path);
      for (const target of [await stores.freshAddress(), join(folder, `target-${++files}.db`)]) {
        const restored = await stores.open(target);
        await restore(restored, path);
        expect(await contents(restored)).toEqual(before);
        const { resourceVersion } = await new Resources(restored).change('bob', (tx) =>
          tx.put({ kind: 'Role', workspace: 'w', name: 'new' }, { spec: {}, labels: {} }),
        );
        expect(resourceVersion).toBe(1104);
      }
      expect(readFileSync(path)).toEqual(bytes);
      await expect(backUp(address, store, path)).rejects.toMatchObject({ code: 'BACKUP_EXISTS' });
      await expect(backUp(address, store, join(folder, 'no', 'such'))).rejects.toMatchObject({
        code: 'BACKUP_UNWRITABLE',
      });
    });

    it('leaves out the holder of the control-plane lease, gateways and requests', async () => {
      const address = await stores.freshAddress();
      const store = await stores.open(address);
      await store.settings.set('control_plane', '{}');
      await store.settings.set('other', '1');
      await store.requests.add([{ request: keptRequest(), explanation: {} }]);
      await store.exclusively((tx) => saveGateway(tx, { id: 'g', startedAt: 1, seenAt: 1, mode: 'local' }));
      const path = freshPath();
      await backUp(address, store, path);
      const restored = await stores.fresh();
      await restore(restored, path);
      const all = [restored];
      // A backup of SQLite is itself a store.
      if (store.kind === 'sqlite') all.push(await stores.open(path));
      for (const { db, settings } of all) {
        expect([await settings.get('control_plane'), await settings.get('other')]).toEqual([null, '1']);
        for (const table of ['gateways', 'requests', 'request_decisions'] as const) {
          expect(await db.selectFrom(table).selectAll().execute(), table).toEqual([]);
        }
      }
    });

    it('is a snapshot of one moment, regardless of concurrent writes', async () => {
      const address = await stores.freshAddress();
      const [store, other] = [await stores.open(address), await stores.open(address)];
      const [resources, others] = [new Resources(store), new Resources(other)];
      const role = (name: string) => ({ kind: 'Role', workspace: 'w', name });
      /** The first and the last row always hold the same value. */
      const write = async (tx: ResourceTransaction, n: number, between: () => Promise<void>) => {
        await tx.put(role('a'), { spec: { n }, labels: {} });
        await between();
        await tx.put(role('z'), { spec: { n }, labels: {} });
      };
      const nothing = async () => {};
      await others.change('bob', async (tx) => {
        await write(tx, 0, nothing);
        for (let i = 0; i < MANY; i++) await tx.put(role(`m${i}`), { spec: {}, labels: {} });
      });
      const restoredFrom = async (path: string) => {
        const restored = await stores.fresh();
        await restore(restored, path);
        const found = new Map((await new Resources(restored).list()).map(({ name, spec }) => [name, spec.n]));
        return [found.get('a'), found.get('z')] as [number, number];
      };

      // In the middle of a change.
      const path = freshPath();
      await others.change('bob', (tx) => write(tx, 1, () => backUp(address, store, path)));
      expect(await restoredFrom(path)).toEqual([0, 0]);

      // During one change after the other.
      let isOver = false;
      let last = 1;
      const writer = (async () => {
        while (!isOver) await others.change('bob', (tx) => write(tx, ++last, nothing));
      })();
      for (let round = 0; round < 3; round++) {
        const begun = last;
        const under = freshPath();
        await backUp(address, store, under);
        const [a, z] = await restoredFrom(under);
        expect(a).toBe(z);
        expect(a).toBeGreaterThanOrEqual(begun - 1);
      }
      isOver = true;
      await writer;
      expect((await resources.get(role('a')))!.spec).toEqual({ n: last });
    });

    it('of SQLite restores into this database too', async () => {
      const address = join(folder, `source-${++files}.db`);
      const source = await stores.open(address);
      await fillStore(source);
      const path = freshPath();
      await backUp(address, source, path);
      const restored = await stores.fresh();
      await restore(restored, path);
      expect(await contents(restored)).toEqual(await contents(source));
    });

    it('is restored only into an empty store', async () => {
      const { path, store } = await backedUp(10);
      const before = await contents(store);
      await expect(restore(store, path)).rejects.toMatchObject({ code: 'BACKUP_NOT_EMPTY' });
      expect(await contents(store)).toEqual(before);
    });

    it.each([0.3, 0.6, 0.95])('of SQLite that is cut off at %d is named by its own path', async (share) => {
      const source = await openStore(join(folder, `${share}.db`));
      await new Resources(source).change('bob', async (tx) => {
        for (let i = 0; i < 300; i++)
          await tx.put({ kind: 'Role', workspace: 'w', name: `m${i}` }, { spec: {}, labels: {} });
      });
      const path = freshPath();
      await backUp(join(folder, `${share}.db`), source, path);
      await source.close();
      truncateSync(path, Math.floor(statSync(path).size * share));
      const restored = await stores.fresh();
      const empty = await contents(restored);
      const problem = await restore(restored, path).catch((error: Error) => error.message);
      expect(problem).toMatch(/: is damaged or incomplete \(.*\); choose a file that `twinyard backup` wrote$/);
      expect(problem).toContain(`${path}: `);
      expect(problem).not.toContain('twinyard-restore');
      expect(await contents(restored)).toEqual(empty);
    });

    it('restores nothing when it is damaged', async () => {
      const restored = await stores.fresh();
      const empty = await contents(restored);
      const memory = await openStore(':memory:');
      await memory.settings.set('a', '1');
      const whole = freshPath();
      await backUp(':memory:', memory, whole);
      await memory.close();
      const lines = readFileSync(whole, 'utf8').trimEnd().split('\n');
      const [header, row, end] = lines as [string, string, string];
      const broken: [string[], RegExp][] = [
        [[], /is incomplete/],
        [['nonsense'], /is not a backup/],
        [[header.replace(/\d+\}$/, '99}'), row, end], /newer program/],
        [[header.replace(/\d+\}$/, '0}'), row, end], /older version/],
        [[header.replace('backup-2', 'backup-1'), row, end], /by twinyard 0\.1/],
        [[header, row], /is incomplete/],
        [[header, end], /:2: is not a row/],
        [[header, row.slice(0, -3), end], /:2: is not a row/],
        [[header, '["pg_user",{}]', end], /:2: is not a row/],
        [[header, row, end, row], /:4: continues after its end/],
      ];
      for (const [text, problem] of broken) {
        const path = freshPath();
        writeFileSync(path, text.map((line) => `${line}\n`).join(''));
        await expect(restore(restored, path)).rejects.toThrow(problem);
        expect(await contents(restored)).toEqual(empty);
      }
      await expect(restore(restored, join(folder, 'nowhere'))).rejects.toThrow('cannot be read (no such file)');
      await restore(restored, whole);
      expect(await restored.settings.get('a')).toBe('1');
    });
  });
}
