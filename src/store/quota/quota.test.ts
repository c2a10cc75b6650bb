import { describe, expect, it } from 'vitest';
import { describeStores } from '../stores.fixture.js';
import { used } from '../usage/used.fixture.js';
import { clockOf, type GatewayRow, listGateways, removeGateways, saveGateway } from './gateways.js';
import { loadAccounts, saveAccounts } from './quota-accounts.js';
import { spentSince } from './quota-spending.js';

describeStores((stores) => {
  describe('accounts', () => {
    it('are read back as they were saved last, some or all of them', async () => {
      const store = await stores.fresh();
      const many = new Map(Array.from({ length: 1203 }, (_, i) => [`key/${i}`, `state ${i}`]));
      await store.exclusively((tx) => saveAccounts(tx, many, 1));
      await store.exclusively((tx) => saveAccounts(tx, new Map([['key/7', 'another']]), 2));
      await store.exclusively((tx) => saveAccounts(tx, new Map(), 3));
      many.set('key/7', 'another');
      const [all, some, none] = await store.exclusively(async (tx) => [
        await loadAccounts(tx),
        await loadAccounts(tx, [...many.keys(), 'key/unknown']),
        await loadAccounts(tx, []),
      ]);
      const sorted = (states: Map<string, string>) => [...states].sort();
      expect(sorted(all!)).toEqual(sorted(many));
      expect(sorted(some!)).toEqual(sorted(many));
      expect(none!.size).toBe(0);
      const times = store.db.selectFrom('quota_accounts').select(({ fn }) => fn.max('updated_at').as('last'));
      expect(await times.executeTakeFirst()).toEqual({ last: 2 });
    });
  });

  describe('gateways', () => {
    it('are listed until they are removed, and keep their start time', async () => {
      const store = await stores.fresh();
      const row = (id: string): GatewayRow => ({ id, startedAt: 5, seenAt: 6, mode: 'joining' });
      const listed = await store.exclusively(async (tx) => {
        for (const id of ['b', 'a', 'c']) await saveGateway(tx, row(id));
        await saveGateway(tx, { ...row('a'), startedAt: 9, seenAt: 9_007_199_254_740_991, mode: 'local' });
        await removeGateways(tx, []);
        await removeGateways(tx, ['c', 'unknown']);
        return listGateways(tx);
      });
      expect(listed).toEqual([{ id: 'a', startedAt: 5, seenAt: 9_007_199_254_740_991, mode: 'local' }, row('b')]);
    });

    it('read one clock', async () => {
      const store = await stores.fresh();
      const before = await store.now();
      const inside = await store.exclusively((tx) => clockOf(tx, store.kind));
      const after = await store.now();
      expect(before).toBeLessThanOrEqual(inside);
      expect(inside).toBeLessThanOrEqual(after);
    });
  });

  describe('spending', () => {
    it('is the sum of usage from a day on, by key and model', async () => {
      const store = await stores.fresh();
      const amounts = { inputTokens: 10, outputTokens: 5, costNanos: 3 };
      await store.usage.fold('journal', [
        used({ ...amounts, keyId: 'k1', day: '2026-04-30' }),
        used({ ...amounts, keyId: 'k1', day: '2026-05-01' }),
        used({ ...amounts, keyId: 'k1', day: '2026-05-20', outcome: 'client_left', endpoint: 'embeddings' }),
        used({ ...amounts, keyId: 'k1', day: '2026-05-20', model: 'n' }),
        used({ ...amounts, keyId: 'k2', day: '2026-05-20', costNanos: 4e15 }),
      ]);
      const ids = Array.from({ length: 600 }, (_, i) => `unknown${i}`);
      const [all, some] = await store.exclusively(async (tx) => [
        await spentSince(tx, '2026-05-01'),
        await spentSince(tx, '2026-05-20', [...ids, 'k1']),
      ]);
      const sorted = (rows: object[]) => rows.map((row) => JSON.stringify(row)).sort();
      expect(sorted(all!)).toEqual(
        sorted([
          { keyId: 'k1', model: 'm', tokens: 30, nanos: 6 },
          { keyId: 'k1', model: 'n', tokens: 15, nanos: 3 },
          { keyId: 'k2', model: 'm', tokens: 15, nanos: 4e15 },
        ]),
      );
      expect(sorted(some!)).toEqual(
        sorted([
          { keyId: 'k1', model: 'm', tokens: 15, nanos: 3 },
          { keyId: 'k1', model: 'n', tokens: 15, nanos: 3 },
        ]),
      );
    });
  });
});
