import { describe, expect, it } from 'vitest';
import type { TestStores } from '../stores.fixture.js';
import type { SavedResult } from './saved-results.js';

const saved = (id: string, changes: Partial<SavedResult> = {}): SavedResult => ({
  ...{ id, workspace: 'w', name: `run ${id}`, savedAt: 1000, savedBy: 'alice', facts: { verdict: 'same' } },
  ...changes,
});

/** The contract for the experiments that a store keeps. */
export function savedResultsContract(stores: TestStores): void {
  describe('saved experiments', () => {
    it('are returned as they were saved, in their workspace alone, until they are deleted', async () => {
      const { lab } = await stores.fresh();
      const result = { curves: Array.from({ length: 1000 }, (_, i) => i / 7), odd: 'naïve \0 "\u{1f600}' };
      await lab.add(saved('a', { name: 'odd \0 name' }), result, 9);
      const kept = saved('a', { name: 'odd \ufffd name' });
      expect(await lab.get('w', 'a')).toEqual({ saved: kept, result });
      expect(await lab.list('w', null, 9)).toEqual([kept]);
      expect([await lab.get('other', 'a'), await lab.list('other', null, 9)]).toEqual([null, []]);
      expect([await lab.delete('other', 'a'), await lab.delete('w', 'a\0')]).toEqual([false, false]);
      expect([await lab.delete('w', 'a'), await lab.get('w', 'a')]).toEqual([true, null]);
    });

    it('are paged from the latest to the oldest without a gap or a duplicate', async () => {
      const { lab } = await stores.fresh();
      for (let i = 0; i < 7; i++) await lab.add(saved(`r${i}`, { savedAt: Math.floor(i / 2) }), {}, 9);
      const first = await lab.list('w', null, 4);
      const rest = await lab.list('w', first.at(-1)!, 9);
      expect([...first, ...rest].map(({ id }) => id)).toEqual(['r6', 'r5', 'r4', 'r3', 'r2', 'r1', 'r0']);
    });

    it('go with their workspace', async () => {
      const { lab, resources } = await stores.fresh();
      const ref = { kind: 'Workspace', workspace: '', name: 'w' };
      const { uid } = await resources.change('alice', (tx) => tx.put(ref, { labels: {}, spec: {} }));
      await lab.add(saved('a'), {}, 9);
      await lab.add(saved('b', { workspace: 'other' }), {}, 9);
      await resources.change('alice', (tx) => tx.markDeleted(ref));
      await resources.change('alice', (tx) => tx.remove(ref, uid));
      expect(await lab.list('w', null, 9)).toEqual([]);
      expect(await lab.list('other', null, 9)).toHaveLength(1);
    });

    it('are refused when the workspace has as many as it may', async () => {
      const { lab } = await stores.fresh();
      for (const id of ['a', 'b']) await lab.add(saved(id), {}, 2);
      await expect(lab.add(saved('c'), {}, 2)).rejects.toMatchObject({ code: 'LAB_SAVED_FULL' });
      await lab.add(saved('c', { workspace: 'other' }), {}, 2);
      expect(await lab.list('w', null, 9)).toHaveLength(2);
    });
  });
}
