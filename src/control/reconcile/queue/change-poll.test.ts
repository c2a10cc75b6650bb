import { expect, test } from 'vitest';
import type { Resources } from '../../../store/resources/resources.js';
import { FakePlane } from '../fake-plane.fixture.js';
import { FakeTiming } from '../fake-timing.fixture.js';
import { ChangePoll } from './change-poll.js';

const REF = { kind: 'Role', workspace: 'default' };

test('reads resources only for changes of other processes, and reports those', async () => {
  const { store } = await FakePlane.open();
  const { resources } = store;
  const timing = new FakeTiming();
  const changed: string[] = [];
  let reads = 0;
  const counted: Pick<Resources, 'changedSince' | 'count' | 'eachRef' | 'version'> = {
    version: () => resources.version(),
    count: (kinds) => resources.count(kinds),
    eachRef: (kinds) => resources.eachRef(kinds),
    changedSince(since, kinds) {
      reads++;
      return resources.changedSince(since, kinds);
    },
  };
  const poll = new ChangePoll({
    ...{ resources: counted, timing, kinds: ['Role'], changing: ['Role'] },
    changed: ({ name }) => changed.push(name),
    removed: ({ name }) => changed.push(`${name} removed`),
  });
  poll.start(await resources.version(), []);
  const unwatch = resources.watch((changes) => {
    for (const change of changes) poll.own(change);
  });
  const put = (name: string) =>
    resources.change('alice', (tx) => tx.put({ ...REF, name }, { spec: {}, labels: {} }, null));
  await put('own');
  await put('also-own');
  await timing.pass(2000);
  expect([reads, changed]).toEqual([0, []]);
  unwatch();
  await put('other');
  await timing.pass(2000);
  expect([reads, changed]).toEqual([1, ['other']]);
  poll.close();
});

/** A poll of roles that another process changes. */
async function polled() {
  const { store } = await FakePlane.open();
  const { resources } = store;
  const timing = new FakeTiming();
  const seen: string[] = [];
  let failure: Error | null = null;
  const poll = new ChangePoll({
    resources: {
      count: (kinds) => resources.count(kinds),
      eachRef: (kinds) => resources.eachRef(kinds),
      changedSince: (since, kinds) => resources.changedSince(since, kinds),
      async version() {
        if (failure !== null) throw failure;
        return resources.version();
      },
    },
    ...{ timing, kinds: ['Role'], changing: ['Role'] },
    changed: ({ name }, isStatus) => seen.push(`${name} ${isStatus ? 'status' : 'spec'}`),
    removed: ({ name }) => seen.push(`${name} removed`),
  });
  const put = (name: string, spec = {}) =>
    resources.change('alice', (tx) => tx.put({ ...REF, name }, { spec, labels: {} }, 'any'));
  const remove = (name: string) =>
    resources.change('alice', async (tx) => {
      const { uid } = await tx.markDeleted({ ...REF, name });
      await tx.remove({ ...REF, name }, uid);
    });
  const next = async () => {
    await timing.pass(500);
    return seen.splice(0);
  };
  return { resources, poll, put, remove, next, fail: (error: Error | null) => (failure = error) };
}

test('reports what another process removes, once, also if it creates as many', async () => {
  const { next, poll, put, remove, resources } = await polled();
  await put('a');
  await put('b');
  poll.start(await resources.version(), [
    { ...REF, name: 'a' },
    { ...REF, name: 'b' },
  ]);
  await remove('a');
  expect(await next()).toEqual(['a removed']);
  expect(await next()).toEqual([]);
  await remove('b');
  await put('c');
  expect(await next()).toEqual(['c spec', 'b removed']);
  // The same name again is another resource.
  await remove('c');
  await put('c', { other: true });
  expect(await next()).toEqual(['c spec']);
  poll.close();
  await put('d');
  expect(await next()).toEqual([]);
});

test('tells a status from a change of the spec, and tries again after a failure of the store', async () => {
  const { fail, next, poll, put, resources } = await polled();
  poll.start(await resources.version(), []);
  const { uid } = await put('a');
  expect(await next()).toEqual(['a spec']);
  const report = (phase: string) =>
    resources.change('control-plane', (tx) => tx.putStatus({ ...REF, name: 'a' }, uid, { phase }));
  await report('Pending');
  expect(await next()).toEqual(['a status']);
  fail(new Error('gone'));
  await put('a', { other: true });
  await report('Ready');
  expect(await next()).toEqual([]);
  fail(null);
  expect(await next()).toEqual(['a spec']);
  poll.close();
});
