import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { MIGRATIONS } from './database/migrations.js';
import { storeHealth } from './database/store-health.js';
import { openStore, type Store } from './open-store.js';
import type { TestStores } from './stores.fixture.js';
import { used } from './usage/used.fixture.js';

/** The contract for a store in either database. */
export function storeContract(stores: TestStores): void {
  describe('a store', () => {
    it('is created once by many processes at the same time, and keeps its content', async () => {
      const address = await stores.freshAddress();
      const [first] = await Promise.all([stores.open(address), stores.open(address), stores.open(address)]);
      await first!.settings.set('colour', 'blue');
      expect(await (await stores.open(address)).settings.get('colour')).toBe('blue');
      const history = await first!.db.selectFrom('twinyard_migrations').selectAll().orderBy('number').execute();
      expect(history.map(({ name }) => name)).toEqual(MIGRATIONS.map(({ name }) => name));
    });

    it('written by a newer version is refused and left unchanged', async () => {
      const address = await stores.freshAddress();
      const store = await stores.open(address);
      const number = MIGRATIONS.length + 1;
      await store.exclusively((tx) =>
        tx.insertInto('twinyard_migrations').values({ number, name: 'later', applied_at: 0 }).execute(),
      );
      await expect(openStore(address)).rejects.toMatchObject({
        code: 'STORE_NEWER',
        message: expect.stringContaining(`version ${number}, this program knows ${MIGRATIONS.length}`),
      });
    });

    it('written by twinyard 0.1 is refused with a hint', async () => {
      const address = await stores.freshAddress();
      const store = await stores.open(address);
      await store.exclusively(async (tx) => {
        await tx.updateTable('twinyard_migrations').set({ name: 'keys and usage' }).where('number', '=', 1).execute();
        await tx.updateTable('twinyard_migrations').set({ name: 'resources' }).where('number', '=', 2).execute();
      });
      await expect(openStore(address)).rejects.toMatchObject({
        code: 'STORE_OLDER',
        hint: 'use a new store and create its keys and resources again',
      });
    });

    it('has a clock', async () => {
      expect(await (await stores.fresh()).now()).toBeGreaterThan(Date.UTC(2024, 0));
    });

    it('holds whole numbers up to 2^53 and any text', async () => {
      const store = await stores.fresh();
      const text = 'naïve – ‘x’; drop table usage; -- \u{1f600}';
      await store.usage.fold('j', [used({ model: text, costNanos: Number.MAX_SAFE_INTEGER })]);
      expect(await store.usage.query({ by: ['model'] })).toMatchObject([
        { model: text, costNanos: Number.MAX_SAFE_INTEGER },
      ]);
    });

    it('reports its version, size and speed', async () => {
      let ms = 0;
      const health = await storeHealth(await stores.fresh(), () => (ms += 5));
      expect(health).toEqual({ version: MIGRATIONS.length, latencyMs: 5, bytes: expect.any(Number) });
      expect(health.bytes).toBeGreaterThan(4096);
    });

    it('has a kind', async () => {
      expect((await stores.fresh()).kind).toBe(stores.kind);
    });
  });

  describe('exclusively', () => {
    const raise = (store: Store, lasts?: 'past-crashes') =>
      store.exclusively(async (tx) => {
        const { value } = await tx
          .selectFrom('settings')
          .select('value')
          .where('name', '=', 'n')
          .executeTakeFirstOrThrow();
        await tx
          .updateTable('settings')
          .set({ value: String(Number(value) + 1) })
          .where('name', '=', 'n')
          .execute();
      }, lasts);

    it('runs one exclusive transaction at a time, over all connections', async () => {
      const address = await stores.freshAddress();
      const shared = [await stores.open(address), await stores.open(address), await stores.open(address)];
      await shared[0]!.settings.set('n', '0');
      await Promise.all(
        shared.flatMap((store) =>
          Array.from({ length: 20 }, (_, i) => raise(store, i % 2 === 0 ? 'past-crashes' : undefined)),
        ),
      );
      expect(await shared[0]!.settings.get('n')).toBe('60');
    });

    it('rolls back when it fails, and rethrows the error', async () => {
      const store = await stores.fresh();
      const failure = new Error('changed my mind');
      const work = store.exclusively(async (tx) => {
        await tx.insertInto('settings').values({ name: 'n', value: '1' }).execute();
        throw failure;
      });
      await expect(work).rejects.toBe(failure);
      expect(await store.settings.get('n')).toBeNull();
    });

    it('times out while another process holds the lock, and works again afterwards', async () => {
      const address = await stores.freshAddress();
      const [keeper, waiting] = [await stores.open(address), await stores.open(address, { lockWaitMs: 30 })];
      await keeper.exclusively(async () => {
        await expect(waiting.settings.set('n', '1')).rejects.toMatchObject({ code: 'STORE_LOCKED' });
        expect(await waiting.settings.get('n')).toBeNull();
      });
      await waiting.settings.set('n', '2');
      expect(await keeper.settings.get('n')).toBe('2');
    });

    it('throws the error of the store when the database refuses', async () => {
      const store = await stores.fresh();
      await expect(store.exclusively((tx) => sql`insert into nowhere values (1)`.execute(tx))).rejects.toMatchObject({
        code: 'STORE_FAILED',
        message: expect.stringContaining('nowhere'),
      });
    });
  });

  describe('settings', () => {
    it('are null until set, and keep the last value set', async () => {
      const { settings } = await stores.fresh();
      expect(await settings.get('a')).toBeNull();
      await settings.set('a', '1');
      await settings.set('a', '2');
      expect(await settings.get('a')).toBe('2');
    });

    it('are created once for all processes', async () => {
      const address = await stores.freshAddress();
      const shared = [await stores.open(address), await stores.open(address)];
      let made = 0;
      const values = await Promise.all(
        shared.map(({ settings }) => settings.getOrCreate('secret', () => `s${++made}`)),
      );
      expect(values[0]).toBe(values[1]);
      expect(await shared[0]!.settings.getOrCreate('secret', () => 'another')).toBe(values[0]);
    });
  });
}
