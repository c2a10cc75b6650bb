import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { describeStores } from '../store/stores.fixture.js';
import { ControlLease } from './control-lease.js';
import { isControlElsewhere } from './errors.js';

describeStores((stores) => {
  describe('the lease', () => {
    let root: string;
    beforeEach(() => {
      root = mkdtempSync(join(tmpdir(), 'twinyard-lease-'));
      for (const name of ['a', 'b']) mkdirSync(join(root, name));
    });
    afterEach(() => {
      vi.useRealTimers();
      rmSync(root, { recursive: true });
    });

    test('is held by one folder at a time, and by the same one after a crash', async () => {
      const store = await stores.fresh();
      const lost = () => expect.fail('it was not lost');
      const take = (name: string) => ControlLease.take(store, join(root, name), lost);
      const first = await take('a');
      const again = await take('a');
      const refusal = await take('b').catch((error) => error);
      expect([isControlElsewhere(refusal), refusal.message]).toEqual([true, expect.stringContaining(join(root, 'a'))]);
      // How long to wait if the holder was killed.
      const [, seconds] = /stop that one, or .*; if it was killed, try again in (\d+) s$/.exec(refusal.message)!;
      expect(Number(seconds)).toBeGreaterThan(0);
      expect(Number(seconds)).toBeLessThanOrEqual(30);
      await first.release();
      const other = await take('b');
      await expect(take('a')).rejects.toThrow(join(root, 'b'));
      // A lease that is not held cannot be released.
      await again.release();
      await expect(take('a')).rejects.toThrow(join(root, 'b'));
      await other.release();
    });

    test('is renewed, and its loss is reported', async () => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      const store = await stores.fresh();
      const lost: string[] = [];
      const told = new Promise<void>((resolve) => {
        void ControlLease.take(store, join(root, 'a'), ({ place }) => {
          lost.push(place);
          resolve();
        }).then(async () => {
          const read = async () => JSON.parse((await store.settings.get('control_plane'))!) as { until: number };
          const { until } = await read();
          await store.settings.set('control_plane', JSON.stringify({ ...(await read()), until: 1 }));
          vi.advanceTimersByTime(10_000);
          while ((await read()).until < until) await new Promise(setImmediate);
          expect(lost).toEqual([]);
          const thief = { owner: 'x', place: 'elsewhere', until: until + 1e9 };
          await store.settings.set('control_plane', JSON.stringify(thief));
          vi.advanceTimersByTime(10_000);
        });
      });
      await told;
      vi.advanceTimersByTime(100_000);
      expect(lost).toEqual(['elsewhere']);
    });
  });
});
