import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TestStores } from '../stores.fixture.js';
import { USAGE_COUNTS, USAGE_DIMENSIONS, type UsageDimension, type UsageRow } from './usage-record.js';
import { used } from './used.fixture.js';

/** The contract for the usage of any store. */
export function usageContract(stores: TestStores): void {
  describe('usage', () => {
    const journals = fc.array(
      fc.array(
        fc.record({
          keyId: fc.constantFrom('k1', 'k2', ''),
          model: fc.constantFrom('m', 'Z', 'é', 'a b'),
          endpoint: fc.constantFrom('chat', 'embeddings'),
          day: fc.constantFrom('2025-12-31', '2026-01-01', '2026-01-02'),
          outcome: fc.constantFrom('ok', 'client_left'),
          requests: fc.nat(9),
          inputTokens: fc.nat(1e6),
          cachedTokens: fc.nat(1e6),
          outputTokens: fc.nat(1e6),
          reasoningTokens: fc.nat(1e6),
          estimatedRequests: fc.nat(9),
          costNanos: fc.nat(1e9),
          characters: fc.nat(1e6),
          audioSeconds: fc.nat(1e6),
        }),
        { maxLength: 40 },
      ),
      { maxLength: 4 },
    );

    it('is read by key from any key on, without the usage of later keys', async () => {
      const { usage } = await stores.fresh();
      const keys = ['B', 'a', 'é', 'k1', 'k2', ''];
      const rows = keys.flatMap((keyId) => ['2026-01-01', '2026-01-02'].map((day) => used({ keyId, day })));
      await usage.fold('j', [...rows, used({ keyId: 'other', model: 'n' })]);
      for (const by of [['key'], ['key', 'day']] as const) {
        const all = await usage.query({ by, model: 'm' });
        for (const from of ['', 'B', 'b', 'k2', 'z']) {
          const wanted = [...new Set(all.map(({ key }) => key!))].filter((key) => key >= from).slice(0, 2);
          const found = await usage.firstByKey({ by, model: 'm' }, from, 2);
          expect(found).toEqual(all.filter(({ key }) => wanted.includes(key!)));
        }
      }
      expect(await usage.firstByKey({ by: ['key'], workspaces: ['none'] }, '', 2)).toEqual([]);
    });

    it('adds up to what was folded, by any dimensions', async () => {
      const query = fc.record({ by: fc.shuffledSubarray([...USAGE_DIMENSIONS]), key: fc.boolean(), day: fc.boolean() });
      await fc.assert(
        fc.asyncProperty(journals, query, async (folded, { by, key, day }) => {
          const { usage } = await stores.fresh();
          for (const [i, rows] of folded.entries()) expect(await usage.fold(`journal-${i}`, rows)).toBe(true);
          const filter = {
            by,
            ...(key && { keyId: 'k1' }),
            ...(day && { fromDay: '2026-01-01', toDay: '2026-01-01' }),
          };
          const counted = folded.flat().filter((row) => {
            return (!key || row.keyId === 'k1') && (!day || row.day === '2026-01-01');
          });
          expect(await usage.query(filter)).toEqual(sums(counted, by));
        }),
        { numRuns: 15 },
      );
    });

    it('can be filtered by model, endpoint and outcome', async () => {
      const { usage } = await stores.fresh();
      await usage.fold('j', [
        used(),
        used({ model: 'x' }),
        used({ endpoint: 'embeddings' }),
        used({ outcome: 'fault' }),
      ]);
      const requests = async (filter: object) => (await usage.query({ by: [], ...filter }))[0]!.requests;
      expect(await requests({})).toBe(4);
      expect(await requests({ model: 'x' })).toBe(1);
      expect(await requests({ endpoint: 'chat' })).toBe(3);
      expect(await requests({ outcome: 'ok', model: 'm' })).toBe(2);
    });

    it('can be filtered by the workspaces of keys and endpoints', async () => {
      const { resources, usage } = await stores.fresh();
      const ref = { kind: 'ApiKey', workspace: 'a', name: 'k' };
      const { uid } = await resources.change('test', (tx) => tx.put(ref, { spec: {}, labels: {} }));
      await usage.fold('j', [
        used({ keyId: uid, endpoint: 'c/x' }),
        used({ keyId: 'other', endpoint: 'a/x' }),
        used({ keyId: 'jwt/a/ann', endpoint: 'c/x' }),
        used({ keyId: 'jwt/ab/ann', endpoint: 'ab/x' }),
        used({ keyId: 'other', endpoint: 'of-the-file' }),
      ]);
      const requests = async (...workspaces: string[]) => (await usage.query({ by: [], workspaces }))[0]!.requests;
      expect([await requests('a'), await requests('ab'), await requests('c'), await requests('default')]).toEqual([
        3, 1, 2, 1,
      ]);
      expect([await requests('a', 'ab'), await requests('none')]).toEqual([4, 0]);
      expect((await resources.page({ kind: 'ApiKey', workspaces: ['a'] }, null, 9)).length).toBe(1);
      expect((await resources.page({ kind: 'ApiKey', workspaces: ['b'] }, null, 9)).length).toBe(0);
      expect((await resources.audit({ workspaces: ['a', 'b'] })).length).toBe(1);
      expect((await resources.audit({ workspaces: ['b'] })).length).toBe(0);
    });

    it('counts a journal once, even if it is folded again', async () => {
      const address = await stores.freshAddress();
      const shared = [await stores.open(address), await stores.open(address)];
      const folds = await Promise.all(shared.flatMap(({ usage }) => [1, 2, 3].map(() => usage.fold('j', [used()]))));
      expect(folds.filter(Boolean)).toHaveLength(1);
      expect(await shared[0]!.usage.query({ by: [] })).toMatchObject([{ requests: 1, inputTokens: 100 }]);
    });

    it('forgets journals that are gone, and no others', async () => {
      const { usage } = await stores.fresh();
      await usage.fold('a', [used()]);
      await usage.fold('b', [used()], ['a']);
      expect(await usage.fold('b', [used()])).toBe(false);
      expect(await usage.fold('a', [used()])).toBe(true);
    });

    it('takes more rows than fit into a statement', async () => {
      const { usage } = await stores.fresh();
      const rows = Array.from({ length: 1201 }, (_, i) => used({ keyId: `k${i}` }));
      await usage.fold('a', rows);
      await usage.fold('b', rows);
      expect(await usage.query({ by: [] })).toMatchObject([{ requests: 2402 }]);
      expect(await usage.query({ by: ['key'] })).toHaveLength(1201);
    });

    it('takes names with any characters', async () => {
      const { usage } = await stores.fresh();
      await usage.fold('a', [used({ model: 'a\0b' }), used({ model: 'a\0b' })]);
      expect(await usage.query({ by: ['model'] })).toMatchObject([{ model: 'a\ufffdb', requests: 2 }]);
    });

    it.each([-1, 0.5, Number.NaN])('refuses to count %d, and folds nothing of that journal', async (requests) => {
      const { usage } = await stores.fresh();
      await expect(usage.fold('a', [used(), used({ requests })])).rejects.toThrow('requests cannot be');
      expect(await usage.fold('a', [used()])).toBe(true);
    });

    it('returns the spending of a key against its budgets', async () => {
      const { usage } = await stores.fresh();
      await usage.fold('j', [
        used(),
        used({ endpoint: 'completions', outcome: 'client_left' }),
        used({ model: 'x', day: '2026-01-15', costNanos: 1 }),
        used({ day: '2025-12-31' }),
        used({ keyId: 'k2' }),
      ]);
      expect(await usage.spentBy('k1', '2026-01-01')).toEqual([
        { model: 'm', requests: 2, tokens: 220, costNanos: 14 },
        { model: 'x', requests: 1, tokens: 110, costNanos: 1 },
      ]);
      expect(await usage.spentBy('k1', '2026-01-02')).toHaveLength(1);
      expect(await usage.spentBy('nobody', '2026-01-01')).toEqual([]);
    });
  });
}

/** A plain reference implementation of the sums. */
function sums(rows: readonly UsageRow[], by: readonly UsageDimension[]): Record<string, unknown>[] {
  const groups = new Map<string, Record<string, unknown>>();
  const nothing = Object.fromEntries(USAGE_COUNTS.map((name) => [name, 0]));
  if (by.length === 0) groups.set('[]', { ...nothing });
  for (const row of rows) {
    const names = by.map((dimension) => (dimension === 'key' ? row.keyId : row[dimension]));
    const place = JSON.stringify(names);
    const sum = groups.get(place) ?? { ...nothing, ...Object.fromEntries(by.map((name, i) => [name, names[i]])) };
    for (const name of USAGE_COUNTS) sum[name] = (sum[name] as number) + row[name];
    groups.set(place, sum);
  }
  const names = (sum: Record<string, unknown>) => by.map((dimension) => sum[dimension] as string);
  return [...groups.values()].sort((a, b) => {
    const at = names(a).findIndex((name, i) => name !== names(b)[i]);
    return at < 0 ? 0 : names(a)[at]! < names(b)[at]! ? -1 : 1;
  });
}
