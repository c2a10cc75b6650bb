import type { Exchange } from './exchange.js';
import type { RetryBudget } from './retry-budget.js';

/** How a request ended, for metrics and logs. */
export type Outcome = 'ok' | 'client_error' | 'upstream_error' | 'timeout' | 'client_left' | 'no_replica' | 'fault';

/** What an exchange needs of its gateway. */
export interface ExchangeHost {
  readonly retries: { most: number; backoffMs: number };
  readonly budget: RetryBudget;
  /** No more requests are wanted: connections end with their answers. */
  readonly isDraining: boolean;
  nowMs(): number;
  /** A number in [0, 1) from the gateway's seeded stream. */
  jitter(): number;
  retried(): void;
  /** Something that should not happen did. */
  fault(error: unknown): void;
  ended(exchange: Exchange, outcome: Outcome): void;
}
