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
