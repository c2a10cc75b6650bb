import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defineClasses, definedClasses } from '../../store/keys/key-classes.js';
import { openStore, type Store } from '../../store/open-store.js';
import { DEFAULT_POLICY } from '../config/gateway-config.js';
import { classesOf, knownClasses, PublishedClasses } from './known-classes.js';
import { FlakyStore } from './test-gateway.fixture.js';

const BUILT_IN = ['critical', 'standard', 'batch', 'sheddable', 'background'];
const endpoint = (sloPriorities: Record<string, number>) => ({ policy: { ...DEFAULT_POLICY, sloPriorities } });

it('takes the classes of all endpoints, each once', () => {
  expect(classesOf([endpoint({ gold: 9, batch: 2 }), endpoint({}), endpoint({ gold: 5, night: -1 })])).toEqual([
    'gold',
    'batch',
    'night',
  ]);
});

it('knows the built-in classes, those of the endpoints, and those that gateways published', async () => {
  expect(await knownClasses([], null)).toEqual(BUILT_IN);
  const store = await openStore(':memory:');
  await defineClasses(store, ['night', 'gold']);
  expect(await knownClasses([endpoint({ gold: 9, batch: 2 })], store)).toEqual([...BUILT_IN, 'gold', 'night']);
  await store.close();
});

describe('PublishedClasses', () => {
  let store: Store;
  beforeEach(async () => {
    store = await openStore(':memory:');
  });
  afterEach(() => store.close());

  it('writes classes when policies define them, and nothing while nothing is new', async () => {
    const flaky = new FlakyStore(store);
    let classes: Record<string, number> = {};
    const endpoints = () => [{ policy: { ...DEFAULT_POLICY, sloPriorities: classes } }];
    const published = new PublishedClasses(flaky, endpoints);
    await published.publish();
    expect([flaky.transactions, await definedClasses(store)]).toEqual([0, []]);
    classes = { gold: 9 };
    await published.publish();
    await published.publish();
    expect([flaky.transactions, await definedClasses(store)]).toEqual([1, ['gold']]);
    classes = { night: -1 };
    flaky.state = 'down';
    await expect(published.publish()).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
    flaky.state = 'up';
    await published.publish();
    expect(await definedClasses(store)).toEqual(['gold', 'night']);
  });
});
