import { BUILT_IN_SLO_PRIORITIES } from '../../policy/slo-classes.js';
import { defineClasses, definedClasses } from '../../store/keys/key-classes.js';
import type { Store } from '../../store/open-store.js';
import type { EndpointConfig } from '../config/gateway-config.js';

/** Endpoints, as far as they define SLO classes. */
export type DefiningEndpoints = Iterable<{ readonly policy: Pick<EndpointConfig['policy'], 'sloPriorities'> }>;

/** The SLO classes that the policies of endpoints define, besides the built-in ones. */
export function classesOf(endpoints: DefiningEndpoints): string[] {
  return [...new Set([...endpoints].flatMap(({ policy }) => Object.keys(policy.sloPriorities)))];
}

/** Valid values of a key's `max_slo_class`: built-in classes, those of these endpoints, and those that gateways on the store published. */
export async function knownClasses(
  endpoints: DefiningEndpoints,
  store: Pick<Store, 'settings'> | null,
): Promise<string[]> {
  const published = store === null ? [] : await definedClasses(store);
  return [...new Set([...Object.keys(BUILT_IN_SLO_PRIORITIES), ...classesOf(endpoints), ...published])];
}

/**
 * Writes the SLO classes that the policies of a gateway define into the store, so that keys created elsewhere may use them. Policies
 * change with files, API calls and endpoints: `publish` is called every few seconds and costs nothing while nothing is new.
 */
export class PublishedClasses {
  readonly #store: Pick<Store, 'exclusively' | 'settings'>;
  readonly #endpoints: () => DefiningEndpoints;
  readonly #published = new Set<string>();

  constructor(store: Pick<Store, 'exclusively' | 'settings'>, endpoints: () => DefiningEndpoints) {
    this.#store = store;
    this.#endpoints = endpoints;
  }

  /** Writes what is new. Rejects when the store fails; the next call tries again. */
  async publish(): Promise<void> {
    const fresh = classesOf(this.#endpoints()).filter((name) => !this.#published.has(name));
    if (fresh.length === 0) return;
    await defineClasses(this.#store, fresh);
    for (const name of fresh) this.#published.add(name);
  }
}
