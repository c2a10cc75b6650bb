import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Store } from '../store/open-store.js';
import { describeStores } from '../store/stores.fixture.js';
import { ControlLease, type LeaseOptions } from './control-lease.js';
import type { Elect } from './election.js';
import type { LeaseHolder, Standing } from './lease-records.js';

const hostOf = (id: string, place = `host:/${id}`, boot = 'boot') => ({ id, place, boot, network: `net-${id}` });

describeStores((stores) => {
  describe('the lease', () => {
    const opened: ControlLease[] = [];
    afterEach(async () => {
      vi.useRealTimers();
      for (const one of opened.splice(0)) await one.release();
    });

    interface More extends Partial<Omit<LeaseOptions, 'store' | 'host'>> {
      readonly place?: string;
      readonly boot?: string;
    }

    const open = async (store: Store, id: string, { boot, place, ...more }: More = {}) => {
      const defaults = { claimsCluster: false, key: 'k', mayLead: async () => true, changed: () => {} };
      const host = hostOf(id, place, boot);
      const lease = await ControlLease.open({ store, host, admin: () => `http://${id}`, ...defaults, ...more });
      opened.push(lease);
      return lease;
    };
    const fakeTimers = () => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const passed = async (isSo: () => boolean | Promise<boolean>) => {
      while (!(await isSo())) await new Promise(setImmediate);
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
      fakeTimers();
      const store = await stores.fresh();
      const seen: string[] = [];
      const changed = (id: string) => (standing: Standing) => seen.push(`${id}: ${standing.leader?.place}`);
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

    test('a leader that was stopped for longer than the lease does not lead until it has renewed it', async () => {
      fakeTimers();
      const store = await stores.fresh();
      let now = 0;
      let changes = 0;
      const first = await open(store, 'a', { clock: () => now, changed: () => changes++ });
      now = 29_999;
      expect(first.isLeading).toBe(true);
      now = 30_000;
      expect([first.isLeading, first.standing.isLeader]).toEqual([false, true]);
      // No other process has taken it: it is renewed at the next look, which is reported for what was left undone meanwhile.
      vi.advanceTimersByTime(1000);
      await passed(() => changes === 1);
      expect(first.isLeading).toBe(true);

      now = 60_000;
      await expire(store, 'control_plane');
      const second = await open(store, 'b');
      expect([first.isLeading, second.isLeading]).toEqual([false, true]);
      vi.advanceTimersByTime(1000);
      await passed(() => changes === 2);
      expect([first.isLeading, first.standing.leader?.owner]).toEqual([false, 'b']);
    });

    test('changes of a process that does not know its successor yet are refused in their transaction', async () => {
      const store = await stores.fresh();
      const first = await open(store, 'a');
      const fence = () => store.resources.change('alice', (tx) => first.fence((name) => tx.setting(name)));
      await fence();
      await expire(store, 'control_plane');
      // Expired, but not taken: no other process can have changed anything.
      await fence();
      await open(store, 'b');
      expect(first.standing.isLeader).toBe(true);
      await expect(fence()).rejects.toMatchObject({
        code: 'CONTROL_ELSEWHERE',
        message: expect.stringContaining('the control plane is host:/b, its admin API http://b'),
      });
    });

    test('of processes that start at the same time one leads', async () => {
      const store = await stores.fresh();
      const ids = ['a', 'b', 'c', 'd'];
      const all = await Promise.all(ids.map((id) => open(store, id)));
      const leaders = all.filter(({ isLeading }) => isLeading);
      expect(leaders).toHaveLength(1);
      const [{ standing }] = leaders as [ControlLease];
      for (const one of all) {
        expect(one.standing.leader?.owner).toBe(standing.leader?.owner);
        expect(one.standing.isClusterHere).toBe(one === leaders[0]);
      }
    });

    test('a follower that may not lead leaves a free lease alone until it may', async () => {
      fakeTimers();
      const store = await stores.fresh();
      const first = await open(store, 'a');
      let looks = 0;
      let may = false;
      const second = await open(store, 'b', { mayLead: async () => ++looks > 0 && may });
      await first.release();
      vi.advanceTimersByTime(1000);
      await passed(() => looks === 1);
      may = true;
      // The previous look may be under way.
      await passed(() => {
        vi.advanceTimersByTime(1000);
        return looks > 1;
      });
      await passed(() => second.isLeading);
      expect((await holder(store, 'control_plane')).owner).toBe('b');
    });

    test('a copy of the folder on another machine is another host', async () => {
      fakeTimers();
      const store = await stores.fresh();
      const original = await open(store, 'a', { place: 'one:/data' });
      let changes = 0;
      const copy = await open(store, 'a', { place: 'two:/data', changed: () => changes++ });
      const clone = await open(store, 'a', { place: 'one:/data', boot: 'another' });
      for (const one of [copy, clone]) expect(one.standing).toMatchObject({ isLeader: false, isClusterHere: false });
      await clone.release();
      await original.release();
      vi.advanceTimersByTime(1000);
      await passed(() => changes === 1);
      // It leads, but the replicas of the original may still run.
      expect(copy.standing).toMatchObject({
        isLeader: true,
        isClusterHere: false,
        clusterHost: { place: 'one:/data' },
      });
    });

    test('a folder that was moved keeps the local cluster: at once after a stop, after a crash when the old lease has expired', async () => {
      fakeTimers();
      const store = await stores.fresh();
      await (await open(store, 'a', { place: 'host:/one' })).release();
      const moved = await open(store, 'a', { place: 'host:/two' });
      expect(moved.standing).toMatchObject({ isLeader: true, isClusterHere: true });
      // Crashed here: its lease is neither renewed nor released. The time of the store cannot be advanced.
      const { until } = await holder(store, 'cluster_host');
      const again = await open(store, 'a', { place: 'host:/three' });
      expect(again.standing).toMatchObject({ isLeader: false, isClusterHere: false });
      const now = vi.spyOn(store, 'now').mockResolvedValue(until);
      vi.advanceTimersByTime(1000);
      await passed(() => again.standing.isClusterHere);
      expect(again.isLeading).toBe(true);
      now.mockRestore();
    });

    describe('where an election decides', () => {
      const held = new Map<string, boolean>();
      const able = new Map<string, () => boolean>();
      const tell = new Map<string, () => void>();
      const released: string[] = [];
      /** An election whose winner the test names. */
      const electing = (id: string, isHeld: boolean, name = 'prod/twinyard'): { elect: Elect } => ({
        async elect({ changed, isAble }) {
          held.set(id, isHeld);
          able.set(id, isAble);
          tell.set(id, () => changed(held.get(id)!));
          return {
            name,
            get isHeld() {
              return held.get(id)!;
            },
            release: async () => void released.push(id),
          };
        },
      });
      const say = (id: string, isHeld: boolean) => {
        held.set(id, isHeld);
        tell.get(id)!();
      };

      test('its winner leads at once, and the store refuses changes of the one before', async () => {
        const store = await stores.fresh();
        const first = await open(store, 'a', electing('a', true));
        const second = await open(store, 'b', electing('b', false));
        expect([first.isLeading, second.isLeading, second.standing.isLeader]).toEqual([true, false, false]);
        expect(second.elsewhere!.message).toContain('the control plane is host:/a');
        expect(await holder(store, 'control_plane')).toMatchObject({ election: 'prod/twinyard' });
        // Without a word from the election: before each action it is read.
        held.set('a', false);
        expect(first.isLeading).toBe(false);
        const fence = () => store.resources.change('alice', (tx) => first.fence((name) => tx.setting(name)));
        await fence();
        say('b', true);
        await passed(() => second.isLeading);
        await expect(fence()).rejects.toMatchObject({ code: 'CONTROL_ELSEWHERE' });
        say('a', false);
        await first.release();
        expect((await holder(store, 'control_plane')).owner).toBe('b');
        expect(released).toEqual(['a']);
      });

      test('a leader that was not confirmed for a while accepts changes, acts when it is confirmed, and says so', async () => {
        fakeTimers();
        const store = await stores.fresh();
        let changes = 0;
        const first = await open(store, 'a', { ...electing('a', true), changed: () => changes++ });
        say('a', false);
        expect([first.isLeading, first.elsewhere]).toEqual([false, null]);
        held.set('a', true);
        // Another process may have been written into the store meanwhile: it is read first.
        expect(first.isLeading).toBe(false);
        await passed(() => {
          vi.advanceTimersByTime(1000);
          return changes > 0;
        });
        expect(first.isLeading).toBe(true);
      });

      test('before the first winner, and after a restart without one, no process leads', async () => {
        const store = await stores.fresh();
        const first = await open(store, 'a', electing('a', false));
        expect([first.isLeading, first.standing.leader]).toEqual([false, null]);
        expect(first.elsewhere!.message).toContain('no process leads the control plane at the moment');
        say('a', true);
        await passed(() => first.isLeading);
        const again = await open(store, 'a', electing('a', false));
        expect([again.isLeading, again.elsewhere!.message]).toEqual([
          false,
          expect.stringContaining('no process leads'),
        ]);
      });

      test('waits for the lease of a leader that the store has elected', async () => {
        fakeTimers();
        const store = await stores.fresh();
        await open(store, 'a');
        const second = await open(store, 'b', electing('b', true));
        expect([second.isLeading, second.standing.leader!.owner]).toEqual([false, 'a']);
        await expire(store, 'control_plane');
        vi.advanceTimersByTime(1000);
        await passed(() => second.isLeading);
      });

      test('a winner that does not reach the store gives up after the time of its record', async () => {
        const store = await stores.fresh();
        let now = 0;
        await open(store, 'a', { ...electing('a', true), clock: () => now });
        now = 29_999;
        expect(able.get('a')!()).toBe(true);
        now = 30_000;
        expect(able.get('a')!()).toBe(false);
      });
    });

    test('is free after its release, also if a renewal was under way', async () => {
      fakeTimers();
      const store = await stores.fresh();
      const first = await open(store, 'a');
      vi.advanceTimersByTime(10_000);
      await first.release();
      expect([(await holder(store, 'control_plane')).until, (await holder(store, 'cluster_host')).until]).toEqual([
        0, 0,
      ]);
    });
  });
});
