import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { readAudit } from '../resources/audit.js';
import type { TestStores } from '../stores.fixture.js';
import { used } from '../usage/used.fixture.js';
import { keyState } from './key-record.js';
import { hashKeyText, keyIdOf } from './key-text.js';

/** 2026-01-01, in milliseconds since 1970. */
const NEW_YEAR = 1_767_225_600_000;

/** A row of a key that was created long ago. */
const ROW = {
  ...{ name: 'n', hint: 'abcd', tenant: 't', role: 'none', limits: '{}', created_at: 0 },
  ...{
    previous_hash: null,
    previous_until: null,
    models: null,
    max_slo_class: null,
    expires_at: null,
    revoked_at: null,
  },
};

/** The contract for the keys of any store. */
export function keysContract(stores: TestStores): void {
  describe('keys', () => {
    it('are changed with the actor in the audit log, where one is given', async () => {
      const { db, keys } = await stores.fresh();
      const { key } = await keys.create({ name: 'web' }, 'ann');
      await keys.update(key.id, { tenant: 'shop' }, 'bob');
      await keys.update(key.id, { tenant: 'shop' }, 'bob');
      const { text } = await keys.rotate(key.id, null, 'ann');
      await keys.update(key.id, { tenant: 'no actor given' });
      await keys.revoke(key.id, 'ann');
      await keys.revoke(key.id, 'ann');
      const log = (await readAudit(db, { kind: 'Key', name: key.id })).reverse();
      expect(log.map(({ action, actor }) => `${actor} ${action}`)).toEqual([
        'ann create',
        'bob update',
        'ann issue',
        'ann delete',
      ]);
      expect(log[1]).toMatchObject({ before: { spec: { tenant: 'web' } }, after: { spec: { tenant: 'shop' } } });
      expect(JSON.stringify(log)).not.toContain(text);
      expect(JSON.stringify(log)).not.toContain(hashKeyText(text));
    });

    it('are created as given, and read back unchanged', async () => {
      const { keys } = await stores.fresh();
      const limits = { '*': { requestsPerMinute: 60, dollarsPerDay: 0.5 }, 'llama-8b': { tokensPerMonth: 1e6 } };
      const { key, text } = await keys.create({
        name: 'web',
        tenant: 'shop',
        models: ['llama-8b', 'qwen'],
        maxSloClass: 'standard',
        role: 'viewer',
        limits,
        expiresAt: NEW_YEAR,
      });
      expect(key).toMatchObject({ name: 'web', tenant: 'shop', limits, revokedAt: null, hash: hashKeyText(text) });
      expect(keyIdOf(text)).toBe(key.id);
      expect(text.endsWith(key.hint)).toBe(true);
      expect(await keys.get(key.id)).toEqual(key);
      expect(JSON.stringify(key)).not.toContain(text.slice(-20));
    });

    it('have no role unless one is given, and a tenant of their own name', async () => {
      const { keys } = await stores.fresh();
      const { key } = await keys.create({ name: 'n' });
      expect(key).toMatchObject({ tenant: 'n', models: null, maxSloClass: null, role: 'none', limits: {} });
      expect(key.expiresAt).toBeNull();
    });

    it('are listed in order of creation, including expired and revoked ones', async () => {
      const { keys } = await stores.fresh();
      const ids: string[] = [];
      for (const name of ['z', 'a', 'm']) ids.push((await keys.create({ name })).key.id);
      await keys.revoke(ids[1]!);
      const listed = await keys.list();
      expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(ids));
      const made = listed.map(({ createdAt }) => createdAt);
      expect(made).toEqual([...made].sort((a, b) => a - b));
    });

    it('are all listed, however many there are', async () => {
      const store = await stores.fresh();
      const { key } = await store.keys.create({ name: 'first' });
      const rows = Array.from({ length: 1200 }, (_, i) => ({ ...ROW, id: `k${i}`, hash: `h${i}` }));
      await store.exclusively(async (tx) => {
        for (let from = 0; from < rows.length; from += 400) {
          await tx
            .insertInto('api_keys')
            .values(rows.slice(from, from + 400))
            .execute();
        }
      });
      const listed = await store.keys.list();
      expect(new Set(listed.map(({ id }) => id)).size).toBe(1201);
      expect(listed.at(-1)).toEqual(key);
    });

    it('change only in what is given', async () => {
      const { keys } = await stores.fresh();
      const { key } = await keys.create({ name: 'n', models: ['m'], limits: { '*': { concurrent: 2 } } });
      const changed = await keys.update(key.id, { models: null, expiresAt: NEW_YEAR, maxSloClass: 'batch' });
      expect(changed).toEqual({ ...key, models: null, expiresAt: NEW_YEAR, maxSloClass: 'batch' });
      expect(await keys.get(key.id)).toEqual(changed);
      const all = { name: 'o', tenant: 't', models: ['x'], role: 'admin', limits: {}, expiresAt: null } as const;
      expect(await keys.update(key.id, { ...all, maxSloClass: null })).toEqual({ ...key, ...all, maxSloClass: null });
    });

    it('change as a function of their present settings, one change at a time', async () => {
      const address = await stores.freshAddress();
      const shared = [await stores.open(address), await stores.open(address)];
      const { key } = await shared[0]!.keys.create({ name: 'n', limits: { '*': { concurrent: 1 } } });
      const raised = shared.flatMap(({ keys }) =>
        Array.from({ length: 10 }, () =>
          keys.update(key.id, ({ limits }) => ({ limits: { '*': { concurrent: limits['*']!.concurrent! + 1 } } })),
        ),
      );
      await Promise.all(raised);
      expect((await shared[0]!.keys.get(key.id))!.limits).toEqual({ '*': { concurrent: 21 } });
    });

    it('refuse invalid settings, and stay unchanged', async () => {
      const { keys } = await stores.fresh();
      await expect(keys.create({ name: '' })).rejects.toMatchObject({ code: 'KEY_INVALID' });
      const { key } = await keys.create({ name: 'n' });
      await expect(keys.update(key.id, { models: [] })).rejects.toMatchObject({ code: 'KEY_INVALID' });
      expect(await keys.list()).toEqual([key]);
    });

    it('ignore fields that an update may not change', async () => {
      const { keys } = await stores.fresh();
      const { key } = await keys.create({ name: 'n' });
      const sly = { name: 'o', hash: 'mine', id: 'other', revokedAt: null };
      expect(await keys.update(key.id, sly)).toEqual({ ...key, name: 'o' });
    });

    it('get a new secret by rotation; the old one is accepted for as long as given', async () => {
      const { keys } = await stores.fresh();
      const { key, text } = await keys.create({ name: 'n' });
      const rotated = await keys.rotate(key.id, NEW_YEAR);
      expect(keyIdOf(rotated.text)).toBe(key.id);
      expect(rotated.text).not.toBe(text);
      expect(rotated.key).toEqual({
        ...key,
        hash: hashKeyText(rotated.text),
        hint: rotated.text.slice(-4),
        previousHash: hashKeyText(text),
        previousUntil: NEW_YEAR,
      });
      const again = await keys.rotate(key.id, null);
      expect(again.key).toMatchObject({ hash: hashKeyText(again.text), previousHash: null, previousUntil: null });
      expect(await keys.get(key.id)).toEqual(again.key);
    });

    it('are revoked for good, with the secret before the last rotation', async () => {
      const { keys } = await stores.fresh();
      const { key } = await keys.create({ name: 'n' });
      await keys.rotate(key.id, NEW_YEAR);
      const revoked = await keys.revoke(key.id);
      expect(keyState(revoked, 0)).toBe('revoked');
      expect(revoked.previousHash).toBeNull();
      expect(await keys.revoke(key.id)).toEqual(revoked);
      await expect(keys.update(key.id, { name: 'o' })).rejects.toMatchObject({ code: 'KEY_REVOKED' });
      await expect(keys.rotate(key.id, null)).rejects.toMatchObject({ code: 'KEY_REVOKED' });
    });

    it('that do not exist are not created by an update', async () => {
      const { keys } = await stores.fresh();
      expect(await keys.get('nobody')).toBeNull();
      for (const change of [
        () => keys.update('nobody', {}),
        () => keys.rotate('nobody', null),
        () => keys.revoke('nobody'),
      ]) {
        await expect(change()).rejects.toMatchObject({ code: 'KEY_UNKNOWN' });
      }
      expect(await keys.list()).toEqual([]);
    });

    it('have a version that changes with every change of a key, for all processes on the store, and with nothing else', async () => {
      const address = await stores.freshAddress();
      const [writer, reader] = [await stores.open(address), await stores.open(address)];
      const seen = [await reader.keys.version()];
      const { key } = await writer.keys.create({ name: 'n' });
      seen.push(await reader.keys.version());
      await writer.keys.update(key.id, { name: 'o' });
      seen.push(await reader.keys.version());
      await writer.keys.rotate(key.id, null);
      seen.push(await reader.keys.version());
      await writer.keys.revoke(key.id);
      seen.push(await reader.keys.version());
      expect(new Set(seen).size).toBe(5);
      await writer.usage.fold('j', [used()]);
      await expect(writer.keys.update('nobody', {})).rejects.toThrow();
      expect(await reader.keys.version()).toBe(seen[4]);
    });

    it('return only what has changed since a given version', async () => {
      const address = await stores.freshAddress();
      const [writer, reader] = [await stores.open(address), await stores.open(address)];
      const start = await reader.keys.news(null);
      expect(start).toEqual({ version: await reader.keys.version(), isAll: true, keys: [] });
      expect(await reader.keys.news(start!.version)).toBeNull();
      const [a, b] = [await writer.keys.create({ name: 'a' }), await writer.keys.create({ name: 'b' })];
      const made = (await reader.keys.news(start!.version))!;
      expect(made).toEqual({ version: await reader.keys.version(), isAll: false, keys: [a.key, b.key] });
      const renamed = await writer.keys.update(a.key.id, { name: 'c' });
      const once = (await reader.keys.news(made.version))!;
      expect(once).toMatchObject({ isAll: false, keys: [renamed] });
      // However often a key changes, it is returned once, as it is now, in the order of the last changes.
      const { key: rotated } = await writer.keys.rotate(b.key.id, NEW_YEAR);
      await writer.keys.update(a.key.id, { name: 'd' });
      const revoked = await writer.keys.revoke(a.key.id);
      expect((await reader.keys.news(once.version))!.keys).toEqual([rotated, revoked]);
      expect(new Set((await reader.keys.news(null))!.keys)).toEqual(new Set([rotated, revoked]));
    });

    it('return many changes, in batches', async () => {
      const store = await stores.fresh();
      const { version } = (await store.keys.news(null))!;
      const rows = Array.from({ length: 1200 }, (_, i) => ({ ...ROW, id: `k${i}`, hash: `h${i}`, version: i + 1 }));
      await store.exclusively(async (tx) => {
        for (let from = 0; from < rows.length; from += 400) {
          await tx
            .insertInto('api_keys')
            .values(rows.slice(from, from + 400))
            .execute();
        }
        await tx.insertInto('settings').values({ name: 'keys.version', value: '1200' }).execute();
      });
      const news = (await store.keys.news(version))!;
      expect([news.isAll, news.keys.map(({ id }) => id)]).toEqual([false, rows.map(({ id }) => id)]);
    });

    it('return everything when the version is unknown', async () => {
      const store = await stores.fresh();
      const { key } = await store.keys.create({ name: 'n' });
      const version = await store.keys.version();
      const all = { version, isAll: true, keys: [key] };
      const [made, count] = version.split('.').map(Number) as [number, number];
      // Of another store, of this one before a restore, and not a version at all.
      for (const since of [`${made - 1}.${count - 1}`, `${made}.${count + 5}`, '', 'nonsense', `${made}.`]) {
        expect(await store.keys.news(since), since).toEqual(all);
      }
      // Written by a version that did not count changes.
      await store.settings.set('keys.version', '7f0f4c1e-5b1c-4b43-8a44-000000000000');
      const uncounted = (await store.keys.news(version))!;
      expect(uncounted).toMatchObject({ isAll: true, keys: [key] });
      const { key: second } = await store.keys.create({ name: 'o' });
      expect(await store.keys.news(uncounted.version)).toMatchObject({ isAll: true, keys: { length: 2 } });
      const counted = await store.keys.version();
      await store.keys.revoke(key.id);
      expect((await store.keys.news(counted))!.keys.map(({ id }) => id)).not.toContain(second.id);
    });

    it('of a store from before changes were counted are all there, and counted from then on', async () => {
      const address = await stores.freshAddress();
      const store = await stores.open(address);
      const { key, text } = await store.keys.create({ name: 'n' });
      await store.exclusively(async (tx) => {
        await sql`drop index api_keys_by_version`.execute(tx);
        await sql`alter table api_keys drop column version`.execute(tx);
        await tx.deleteFrom('twinyard_migrations').where('number', '=', 3).execute();
      });
      const migrated = await stores.open(address);
      const { isAll, keys, version } = (await migrated.keys.news(null))!;
      expect([isAll, keys, keys[0]!.hash]).toEqual([true, [key], hashKeyText(text)]);
      const changed = await migrated.keys.update(key.id, { name: 'o' });
      expect(await migrated.keys.news(version)).toMatchObject({ isAll: false, keys: [changed] });
    });
  });
}
