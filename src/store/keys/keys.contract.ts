import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { readAudit } from '../resources/audit.js';
import { resourceRowOf } from '../resources/resource-record.js';
import type { TestStores } from '../stores.fixture.js';
import { used } from '../usage/used.fixture.js';
import { keyPhase, keyRecordOf } from './key-record.js';
import { KEY_SCHEMA } from './key-schema.js';
import { hashKeySecret, keyIdIn } from './key-secret.js';
import { deleteKey, keyRef, newKey, putKey } from './new-key.fixture.js';

/** 2126-01-01, in milliseconds since 1970. */
const FAR = 4_922_899_200_000;

/** The contract for the keys of any store. */
export function keysContract(stores: TestStores): void {
  describe('keys', () => {
    it('are ApiKeys with a secret, of which only the hash is stored', async () => {
      const { keys, resources } = await stores.fresh();
      const limits = { '*': { requests_per_minute: 60, dollars_per_day: 0.5 }, 'llama-8b': { tokens_per_month: 1e6 } };
      await putKey({ keys, resources }, 'web', {
        ...{ tenant: 'shop', models: ['llama-8b', 'qwen'], max_slo_class: 'standard', role: 'viewer', limits },
        expires_at: '2126-01-01T00:00:00Z',
      });
      expect(keyRecordOf((await resources.get(keyRef('web')))!)).toBeNull();
      const { record, secret } = await keys.issue(keyRef('web'), null, 'ann');
      expect(keyRecordOf(record)).toEqual({
        ...{ id: record.uid, workspace: 'default', name: 'web', tenant: 'shop', models: ['llama-8b', 'qwen'] },
        grants: [],
        ...{ maxSloClass: 'standard', role: 'viewer', expiresAt: FAR, revokedAt: null },
        limits: { '*': { requestsPerMinute: 60, dollarsPerDay: 0.5 }, 'llama-8b': { tokensPerMonth: 1e6 } },
        ...{ hash: hashKeySecret(secret), previousHash: null, previousUntil: null },
      });
      expect(keyIdIn(secret)).toBe(record.uid);
      expect(record.status).toEqual({ hint: secret.slice(-4) });
      expect(await resources.get(keyRef('web'))).toEqual(record);
      expect(await resources.byUid(record.uid)).toEqual(record);
      expect(JSON.stringify(record)).not.toContain(secret.slice(-20));
    });

    it('have no role unless one is given, and a tenant named after them', async () => {
      const { keys, resources } = await stores.fresh();
      await newKey({ keys, resources }, 'n');
      expect(keyRecordOf((await resources.get(keyRef('n')))!)).toMatchObject({
        ...{ tenant: 'n', models: null, maxSloClass: null, role: 'none', limits: {}, expiresAt: null },
      });
    });

    it('are issued and revoked with the actor in the audit log, and without a hash', async () => {
      const store = await stores.fresh();
      await putKey(store, 'web', {});
      const { secret } = await store.keys.issue(keyRef('web'), null, 'ann');
      await store.keys.revoke(keyRef('web'), 'bob');
      await store.keys.revoke(keyRef('web'), 'bob');
      const log = (await readAudit(store.db, { kind: 'ApiKey', name: 'web' })).reverse();
      expect(log.map(({ action, actor }) => `${actor} ${action}`)).toEqual(['test create', 'ann issue', 'bob revoke']);
      expect(log[1]).toMatchObject({ before: { status: null }, after: { status: { hint: secret.slice(-4) } } });
      expect(JSON.stringify(log)).not.toContain(secret);
      expect(JSON.stringify(log)).not.toContain(hashKeySecret(secret));
    });

    it('get a new secret by rotation; the old one is accepted for as long as given', async () => {
      const store = await stores.fresh();
      const { id, secret } = await newKey(store, 'n');
      const rotated = await store.keys.issue(keyRef('n'), FAR, 'ann');
      expect([keyIdIn(rotated.secret), rotated.record.uid]).toEqual([id, id]);
      expect(rotated.secret).not.toBe(secret);
      expect(keyRecordOf(rotated.record)).toMatchObject({
        hash: hashKeySecret(rotated.secret),
        previousHash: hashKeySecret(secret),
        previousUntil: FAR,
      });
      const again = await store.keys.issue(keyRef('n'), null, 'ann');
      expect(keyRecordOf(again.record)).toMatchObject({
        ...{ hash: hashKeySecret(again.secret), previousHash: null, previousUntil: null },
      });
    });

    it('keep their secret when their spec changes', async () => {
      const store = await stores.fresh();
      const { secret } = await newKey(store, 'n', { models: ['m'] });
      await putKey(store, 'n', { role: 'viewer' });
      expect(keyRecordOf((await store.resources.get(keyRef('n')))!)).toMatchObject({
        ...{ hash: hashKeySecret(secret), models: null, role: 'viewer' },
      });
    });

    it('are revoked for good, with the secret before the last rotation, whether they have one or not', async () => {
      const store = await stores.fresh();
      await newKey(store, 'n');
      await store.keys.issue(keyRef('n'), FAR, 'ann');
      const revoked = await store.keys.revoke(keyRef('n'), 'ann');
      expect(keyRecordOf(revoked)).toMatchObject({ previousHash: null, revokedAt: expect.any(Number) });
      expect(await store.keys.revoke(keyRef('n'), 'ann')).toEqual(revoked);
      await expect(store.keys.issue(keyRef('n'), null, 'ann')).rejects.toMatchObject({ code: 'KEY_REVOKED' });
      await putKey(store, 'pending', {});
      await store.keys.revoke(keyRef('pending'), 'ann');
      await expect(store.keys.issue(keyRef('pending'), null, 'ann')).rejects.toMatchObject({ code: 'KEY_REVOKED' });
    });

    it('are pending, active, expired or revoked', async () => {
      const store = await stores.fresh();
      const phaseAt = async (now: number) => keyPhase((await store.resources.get(keyRef('n')))!, now);
      await putKey(store, 'n', { expires_at: '2126-01-01T00:00:00Z' });
      expect([await phaseAt(0), await phaseAt(FAR)]).toEqual(['Pending', 'Expired']);
      await store.keys.issue(keyRef('n'), null, 'ann');
      expect([await phaseAt(FAR - 1), await phaseAt(FAR)]).toEqual(['Active', 'Expired']);
      await store.keys.revoke(keyRef('n'), 'ann');
      expect(await phaseAt(FAR)).toBe('Revoked');
    });

    it('that do not exist cannot be issued or revoked, and a secret that is given as a name is not repeated', async () => {
      const { keys, resources } = await stores.fresh();
      const place = 'ApiKey default/ty_***';
      const unknown = expect.objectContaining({ code: 'RESOURCE_UNKNOWN', place });
      await expect(keys.issue(keyRef('ty_planted'), null, 'ann')).rejects.toEqual(unknown);
      await expect(keys.revoke(keyRef('ty_planted'), 'ann')).rejects.toEqual(unknown);
      expect(await resources.list()).toEqual([]);
    });
  });

  describe('news of keys', () => {
    it('have a version that changes with every change, for all processes on the store, and with nothing else', async () => {
      const address = await stores.freshAddress();
      const [writer, reader] = [await stores.open(address), await stores.open(address)];
      const seen = [await reader.keys.version()];
      await putKey(writer, 'n', {});
      seen.push(await reader.keys.version());
      await writer.keys.issue(keyRef('n'), null, 'ann');
      seen.push(await reader.keys.version());
      await writer.keys.revoke(keyRef('n'), 'ann');
      seen.push(await reader.keys.version());
      await deleteKey(writer, 'n');
      seen.push(await reader.keys.version());
      expect(new Set(seen).size).toBe(5);
      await writer.usage.fold('j', [used()]);
      await expect(writer.keys.revoke(keyRef('nobody'), 'ann')).rejects.toThrow();
      expect(await reader.keys.version()).toBe(seen[4]);
    });

    it('hold only what has changed since a given version, and what was deleted', async () => {
      const address = await stores.freshAddress();
      const [writer, reader] = [await stores.open(address), await stores.open(address)];
      const start = (await reader.keys.news(null))!;
      expect(start).toEqual({ version: await reader.keys.version(), isAll: true, keys: [], removed: [] });
      expect(await reader.keys.news(start.version)).toBeNull();
      const [a, b] = [await newKey(writer, 'a'), await newKey(writer, 'b')];
      // Without a secret it is no key yet.
      await putKey(writer, 'pending', {});
      const made = (await reader.keys.news(start.version))!;
      expect(made).toMatchObject({ isAll: false, keys: [{ id: a.id }, { id: b.id }], removed: [] });
      await putKey(writer, 'a', { tenant: 'c' });
      const once = (await reader.keys.news(made.version))!;
      expect(once.keys).toMatchObject([{ id: a.id, tenant: 'c' }]);
      // However often a key changes, it is returned once, as it is now, in the order of the last changes.
      await writer.keys.issue(keyRef('b'), FAR, 'ann');
      await putKey(writer, 'a', { tenant: 'd' });
      await writer.keys.revoke(keyRef('a'), 'ann');
      const twice = (await reader.keys.news(once.version))!;
      expect(twice.keys).toMatchObject([{ id: b.id }, { id: a.id, tenant: 'd', revokedAt: expect.any(Number) }]);
      await deleteKey(writer, 'a');
      const after = (await reader.keys.news(twice.version))!;
      expect(after).toMatchObject({ isAll: false, keys: [], removed: [a.id] });
      expect((await reader.keys.news(null))!.keys).toMatchObject([{ id: b.id }]);
    });

    it('are read in batches, for any number of keys', async () => {
      const store = await stores.fresh();
      const { id } = await newKey(store, 'first');
      const { version } = (await store.keys.news(null))!;
      const first = (await store.resources.byUid(id))!;
      const rows = Array.from({ length: 1200 }, (_, i) =>
        resourceRowOf({
          ...{ ...first, name: `k${i}`, uid: `k${i}`, resourceVersion: 1000 + i },
          spec: v.parse(KEY_SCHEMA, {}),
        }),
      );
      await store.exclusively(async (tx) => {
        for (let from = 0; from < rows.length; from += 400) {
          await tx
            .insertInto('resources')
            .values(rows.slice(from, from + 400))
            .execute();
        }
        await tx.updateTable('settings').set({ value: '2200' }).where('name', '=', 'resources.version').execute();
      });
      const news = (await store.keys.news(version))!;
      expect([news.isAll, news.keys.map((key) => key.id)]).toEqual([false, rows.map(({ uid }) => uid)]);
      expect((await store.keys.news(null))!.keys).toHaveLength(1201);
    });

    it('hold everything when the version is unknown', async () => {
      const store = await stores.fresh();
      const { id } = await newKey(store, 'n');
      const version = await store.keys.version();
      const [made, count] = version.split('.').map(Number) as [number, number];
      // Of another store, of this one before a restore, and not a version at all.
      for (const since of [`${made - 1}.${count - 1}`, `${made}.${count + 5}`, '', 'nonsense']) {
        expect(await store.keys.news(since), since).toMatchObject({ version, isAll: true, keys: [{ id }] });
      }
    });
  });
}
