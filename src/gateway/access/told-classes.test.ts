import { afterEach, beforeEach, expect, it } from 'vitest';
import { definedClasses } from '../../store/keys/key-classes.js';
import { openStore, type Store } from '../../store/open-store.js';
import { DEFAULT_POLICY } from '../config/gateway-config.js';
import { FlakyStore } from './test-gateway.fixture.js';
import { ToldClasses } from './told-classes.js';

let store: Store;
beforeEach(async () => {
  store = await openStore(':memory:');
});
afterEach(() => store.close());

it('tells of classes when policies define them, and writes nothing while nothing is new', async () => {
  const flaky = new FlakyStore(store);
  let classes: Record<string, number> = {};
  const endpoints = () => [{ policy: { ...DEFAULT_POLICY, sloPriorities: classes } }];
  const told = new ToldClasses(flaky, endpoints);
  await told.tell();
  expect([flaky.transactions, await definedClasses(store)]).toEqual([0, []]);
  classes = { gold: 9 };
  await told.tell();
  await told.tell();
  expect([flaky.transactions, await definedClasses(store)]).toEqual([1, ['gold']]);
  classes = { night: -1 };
  flaky.state = 'down';
  await expect(told.tell()).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
  flaky.state = 'up';
  await told.tell();
  expect(await definedClasses(store)).toEqual(['gold', 'night']);
});
