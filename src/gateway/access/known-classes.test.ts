import { expect, it } from 'vitest';
import { defineClasses } from '../../store/keys/key-classes.js';
import { openStore } from '../../store/open-store.js';
import { DEFAULT_POLICY } from '../config/gateway-config.js';
import { classesOf, knownClasses } from './known-classes.js';

const BUILT_IN = ['critical', 'standard', 'batch', 'sheddable', 'background'];
const endpoint = (sloPriorities: Record<string, number>) => ({ policy: { ...DEFAULT_POLICY, sloPriorities } });

it('are those of all endpoints, each once', () => {
  expect(classesOf([endpoint({ gold: 9, batch: 2 }), endpoint({}), endpoint({ gold: 5, night: -1 })])).toEqual([
    'gold',
    'batch',
    'night',
  ]);
});

it('are the built-in ones, those of the endpoints, and those that gateways told of', async () => {
  expect(await knownClasses([], null)).toEqual(BUILT_IN);
  const store = await openStore(':memory:');
  await defineClasses(store, ['night', 'gold']);
  expect(await knownClasses([endpoint({ gold: 9, batch: 2 })], store)).toEqual([...BUILT_IN, 'gold', 'night']);
  await store.close();
});
