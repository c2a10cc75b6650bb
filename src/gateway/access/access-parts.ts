import type { Store, StoreTransaction } from '../../store/open-store.js';
import type { GatewayMode } from '../../store/quota/gateways.js';
import type { AccessConfig, Price } from '../config/gateway-config.js';
import type { LimitName } from './account/shortage.js';

/** What the check of keys and limits is made of. */
export interface AccessOptions {
  store: Pick<Store, 'exclusively' | 'kind' | 'keys'>;
  config: AccessConfig;
  prices: readonly Price[];
  /** The id of this gateway in the store, and the ids of gateways known to have ended. */
  gatewayId?: string;
  deadGateways?: readonly string[];
  /** Monotonic milliseconds since 1970. */
  nowMs: () => number;
  /** Called with a line that operators should see. */
  warn?: (message: string) => void;
  /** Called with unexpected errors. */
  fault?: (error: unknown) => void;
  /** Set by tests. */
  storeNow?: (tx: StoreTransaction) => Promise<number>;
  pause?: (ms: number) => Promise<unknown>;
}

/** For metrics: everything since the start. */
export interface AccessCounts {
  readonly mode: GatewayMode;
  readonly keys: number;
  readonly wrongKeys: number;
  readonly wrongKeysLimited: number;
  readonly limited: Readonly<Record<LimitName, number>>;
  readonly storeFailures: number;
  readonly refusedUnasked: number;
  readonly admittedUnasked: number;
}
