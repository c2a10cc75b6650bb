import { existsSync } from 'node:fs';
import { RunError } from '../../kernel/errors.js';
import { storeAddress } from '../../store/database/store-address.js';
import { openStore } from '../../store/open-store.js';
import { type Check, clockCheck, finding, findingOf, fine } from './check.js';

/** Whether the store can be opened, and its clock. Changes nothing: a new store is not created, an old one not migrated. */
export async function checkStore(store: string): Promise<Check[]> {
  let shown = 'store';
  try {
    const address = storeAddress(store);
    shown = address.shown;
    if (address.kind === 'sqlite' && store !== ':memory:' && !existsSync(address.path)) {
      return [fine('store', shown, 'will be created')];
    }
    const opened = await openStore(store, { create: false, migrate: false });
    try {
      const before = Date.now();
      const now = await opened.now();
      const clock = opened.kind === 'sqlite' ? [] : [clockCheck(shown, now - (before + Date.now()) / 2)];
      return [fine('store', shown, 'opens'), ...clock];
    } finally {
      await opened.close();
    }
  } catch (error) {
    const hint = 'check that the database runs, its address and its password';
    // Errors name the store by themselves.
    const { message } = error as Error;
    if (error instanceof RunError) return [finding('store', shown, message.replace(`store ${shown}: `, ''), hint)];
    return [findingOf('store', shown, error, hint)];
  }
}
