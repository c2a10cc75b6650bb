import { BUILT_IN_SLO_PRIORITIES } from '../../policy/slo-classes.js';
import { definedClasses } from '../../store/keys/key-classes.js';
import type { Store } from '../../store/open-store.js';
import type { EndpointConfig } from '../config/gateway-config.js';

/** Endpoints, as far as they define classes. */
export type DefiningEndpoints = Iterable<{ readonly policy: Pick<EndpointConfig['policy'], 'sloPriorities'> }>;

/** The SLO classes that the policies of endpoints name, besides those that every policy knows. */
export function classesOf(endpoints: DefiningEndpoints): string[] {
  return [...new Set([...endpoints].flatMap(({ policy }) => Object.keys(policy.sloPriorities)))];
}

/** What a key's `max_slo_class` may be: a built-in class, one of these endpoints, or one that a gateway on the store told of. */
export async function knownClasses(
  endpoints: DefiningEndpoints,
  store: Pick<Store, 'settings'> | null,
): Promise<string[]> {
  const told = store === null ? [] : await definedClasses(store);
  return [...new Set([...Object.keys(BUILT_IN_SLO_PRIORITIES), ...classesOf(endpoints), ...told])];
}
