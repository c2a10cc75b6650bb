import { describe, expect, it } from 'vitest';
import type { TestStores } from '../stores.fixture.js';
import { defineClasses, definedClasses } from './key-classes.js';

/** The contract for the SLO classes that gateways publish. */
export function keyClassesContract(stores: TestStores): void {
  describe('classes', () => {
    it('are shared by all gateways on the store, each listed once', async () => {
      const address = await stores.freshAddress();
      const [one, other] = [await stores.open(address), await stores.open(address)];
      expect(await definedClasses(one)).toEqual([]);
      await Promise.all([defineClasses(one, ['gold', 'night']), defineClasses(other, ['gold', 'naïve "x"'])]);
      expect(new Set(await definedClasses(one))).toEqual(new Set(['gold', 'night', 'naïve "x"']));
      await defineClasses(other, []);
      await defineClasses(other, ['night', 'silver']);
      expect((await definedClasses(one)).toSorted()).toEqual(['gold', 'naïve "x"', 'night', 'silver']);
    });

    it('are limited in number', async () => {
      const store = await stores.fresh();
      await defineClasses(store, ['old', ...Array.from({ length: 999 }, (_, i) => `c${i}`)]);
      await defineClasses(store, ['new']);
      const classes = await definedClasses(store);
      expect([classes.length, classes.includes('old'), classes.at(-1)]).toEqual([1000, false, 'new']);
    });
  });
}
