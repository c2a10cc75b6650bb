import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Store } from '../store/open-store.js';
import { describeStores } from '../store/stores.fixture.js';
import { ControlLease, type LeaseHolder, type Standing } from './control-lease.js';

const hostOf = (id: string, place = `host:/${id}`) => ({ id, place, network: `net-${id}` });

describeStores((stores) => {
  describe('the lease', () => {
    const opened: ControlLease[] = [];
    afterEach(async () => {
      vi.useRealTimers();
      for (const one of opened.splice(0)) await one.release();
    });

    const open = async (
      store: Store,
      id: string,
      more: { place?: string; claimsCluster?: boolean; changed?: (standing: Standing) => void } = {},
    ) => {
      const { changed = () => {}, claimsCluster = false, place } = more;
      const host = hostOf(id, place);
      const lease = await ControlLease.open({ store, host, admin: () => `http://${id}`, claimsCluster, changed });
      opened.push(lease);
      return lease;
    };
    const holder = async (store: Store, name: string) => JSON.parse((await store.settings.get(name))!) as LeaseHolder;
    const expire = async (store: Store, name: string) =>
      store.settings.set(name, JSON.stringify({ ...(await holder(store, name)), until: 1 }));

    test('is held by one folder at a time, and by the same one after a crash', async () => {
      const store = await stores.fresh();
      const [first, again, other] = [await open(store, 'a'), await open(store, 'a'), await open(store, 'b')];
      expect([first, again, other].map(({ standing }) => standing.isLeader)).toEqual([true, true, false]);
      expect(other.standing.leader).toMatchObject({ place: 'host:/a', admin: 'http://a', network: 'net-a' });
      await first.release();
      expect((await open(store, 'c')).standing.isLeader).toBe(true);
      // A lease that is not held cannot be released.
      await again.release();
      expect((await open(store, 'a')).standing.isLeader).toBe(false);
    });

    test('is renewed; its loss and its take-over are reported', async () => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      const store = await stores.fresh();
      const seen: string[] = [];
      const changed = (id: string) => (standing: Standing) => seen.push(`${id}: ${standing.leader.place}`);
      await open(store, 'a', { changed: changed('a') });
      await open(store, 'b', { changed: changed('b') });
      const { until } = await holder(store, 'control_plane');
      await store.settings.set(
        'control_plane',
        JSON.stringify({ ...(await holder(store, 'control_plane')), until: until - 1 }),
      );
      vi.advanceTimersByTime(10_000);
      while ((await holder(store, 'control_plane')).until < until) await new Promise(setImmediate);
      expect(seen).toEqual([]);
      // The leader has hung for longer than the lease: the follower takes it at its next look.
      await expire(store, 'control_plane');
      vi.advanceTimersByTime(1000);
      while (seen.length < 1) await new Promise(setImmediate);
      vi.advanceTimersByTime(10_000);
      while (seen.length < 2) await new Promise(setImmediate);
      expect(seen).toEqual(['b: host:/b', 'a: host:/b']);
    });

    test('leaves the local cluster to its first host after a change of the leader, unless another one claims it', async () => {
      const store = await stores.fresh();
      const first = await open(store, 'a');
      expect(first.standing).toMatchObject({ isClusterHere: true, clusterHost: { network: 'net-a' } });
      await first.release();
      const next = await open(store, 'b');
      expect(next.standing).toMatchObject({
        isLeader: true,
        isClusterHere: false,
        clusterHost: { place: 'host:/a', until: 0 },
      });
      const back = await open(store, 'a');
      expect(back.standing).toMatchObject({ isLeader: false, isClusterHere: true });
      const claiming = await open(store, 'b', { claimsCluster: true });
      expect(claiming.standing).toMatchObject({ isLeader: true, isClusterHere: true });
      expect((await open(store, 'a')).standing).toMatchObject({
        isClusterHere: false,
        clusterHost: { place: 'host:/b' },
      });
    });

    test('gives the local cluster to a new folder at the same place once the old one is gone', async () => {
      const store = await stores.fresh();
      const old = await open(store, 'a', { place: 'host:/data' });
      expect((await open(store, 'b', { place: 'host:/data' })).standing.isClusterHere).toBe(false);
      await old.release();
      expect((await open(store, 'b', { place: 'host:/data' })).standing.isClusterHere).toBe(true);
    });
  });
});
