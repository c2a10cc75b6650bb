import { describe, expect, it } from 'vitest';
import type { Store } from '../open-store.js';
import type { TestStores } from '../stores.fixture.js';
import { RemovedWorkspaces } from './removed-workspaces.js';

const ref = (name: string) => ({ kind: 'Workspace', workspace: '', name });

async function addAndRemove({ resources }: Store, name: string): Promise<void> {
  const { uid } = await resources.change('alice', (tx) => tx.put(ref(name), { labels: {}, spec: {} }));
  await resources.change('alice', (tx) => tx.markDeleted(ref(name)));
  await resources.change('alice', (tx) => tx.remove(ref(name), uid));
}

/** The contract for the report of workspaces that were removed. */
export function removedWorkspacesContract(stores: TestStores): void {
  describe('removed workspaces', () => {
    it('are reported once: those before the start, those of this process at once, and those of others', async () => {
      const address = await stores.freshAddress();
      const [store, other] = [await stores.open(address), await stores.open(address)];
      await addAndRemove(other, 'before');
      const removed: string[] = [];
      let isFailing = false;
      const watch = new RemovedWorkspaces(
        store,
        (name, untilMs) => {
          expect(untilMs).toBeGreaterThan(1e12);
          if (isFailing) throw new Error('no');
          removed.push(name);
        },
        () => {},
      );
      await watch.look();
      await addAndRemove(store, 'own');
      expect(removed).toEqual(['before', 'own']);
      await addAndRemove(other, 'of-another');
      isFailing = true;
      await expect(watch.look()).rejects.toThrow('no');
      isFailing = false;
      await watch.look();
      await watch.look();
      expect(removed).toEqual(['before', 'own', 'of-another']);
      await watch.close();
    });
  });
}
