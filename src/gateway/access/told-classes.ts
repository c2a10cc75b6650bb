import { defineClasses } from '../../store/keys/key-classes.js';
import type { Store } from '../../store/open-store.js';
import { classesOf, type DefiningEndpoints } from './known-classes.js';

/**
 * Tells the store which SLO classes the policies of a gateway define, so that those who make keys elsewhere know them. Policies
 * come and go by files, by the admin API and with endpoints: it is asked to look every few seconds, which costs nothing while
 * nothing is new.
 */
export class ToldClasses {
  readonly #store: Pick<Store, 'exclusively' | 'settings'>;
  readonly #endpoints: () => DefiningEndpoints;
  readonly #told = new Set<string>();

  constructor(store: Pick<Store, 'exclusively' | 'settings'>, endpoints: () => DefiningEndpoints) {
    this.#store = store;
    this.#endpoints = endpoints;
  }

  /** Tells what has not been told yet. Rejects when the store fails; the next time tries again. */
  async tell(): Promise<void> {
    const fresh = classesOf(this.#endpoints()).filter((name) => !this.#told.has(name));
    if (fresh.length === 0) return;
    await defineClasses(this.#store, fresh);
    for (const name of fresh) this.#told.add(name);
  }
}
