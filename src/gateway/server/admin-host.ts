import type { ApiError } from '../../protocol/errors.js';
import type { KeyRole } from '../../store/keys/key-record.js';
import type { Store } from '../../store/open-store.js';
import type { LimitsView } from '../access/limits/limits-view.js';
import type { Gateway } from '../gateway.js';

/** What the admin port needs of those who know the keys. */
export interface AdminAccess {
  /** Who sent these headers, or why nobody is let in with them. In constant time. */
  check(
    authorization: string | undefined,
    apiKey: string | undefined,
    address: string,
  ): { readonly id: string; readonly role: KeyRole; readonly record: { readonly name: string } } | ApiError;
  /** What is left of each limit of a key now; null if there is no such key. Rejects when nobody can be asked. */
  limitsOf(keyId: string): Promise<LimitsView | null>;
}

/** What the admin port needs of the gateway. */
export interface AdminHost
  extends Pick<
    Gateway,
    | 'adminToken'
    | 'config'
    | 'endpoints'
    | 'extension'
    | 'fault'
    | 'fleet'
    | 'foldUsage'
    | 'metricsText'
    | 'nowMs'
    | 'refusals'
    | 'reloadConfig'
    | 'replicas'
    | 'ring'
    | 'stopSignal'
  > {
  /** Where keys and usage are; without one there are no keys but the token. */
  readonly store: Pick<Store, 'exclusively' | 'keys' | 'settings' | 'usage' | 'now'> | null;
  /** Null where no keys are asked for. */
  readonly access: AdminAccess | null;
  /** Those who have a key, whether or not requests need one. */
  readonly holders: AdminAccess | null;
}
