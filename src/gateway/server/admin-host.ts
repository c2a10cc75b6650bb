import type { ApiError } from '../../protocol/errors.js';
import type { KeyRole } from '../../store/key-record.js';
import type { Store } from '../../store/open-store.js';
import type { Gateway } from '../gateway.js';

/** What the admin port needs of those who know the keys. */
export interface AdminAccess {
  /** Who sent these headers, or why nobody is let in with them. In constant time. */
  check(
    authorization: string | undefined,
    apiKey: string | undefined,
    address: string,
  ): { readonly id: string; readonly role: KeyRole; readonly record: { readonly name: string } } | ApiError;
  /** Keys have changed in the store: from now on they are as they are there. */
  refresh(): Promise<void>;
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
    | 'reloadConfig'
    | 'replicas'
    | 'ring'
    | 'stopSignal'
  > {
  /** Where keys and usage are; without one there are no keys but the token. */
  readonly store: Pick<Store, 'keys' | 'usage' | 'now'> | null;
  /** Null where no keys are asked for. */
  readonly access: AdminAccess | null;
}
