import type { Access } from '../access/access.js';
import type { MeterPool } from '../metering/meter-pool.js';
import type { TrafficRecorder } from '../recording/traffic-recorder.js';
import type { GatewayMetrics } from '../telemetry/gateway-metrics.js';
import type { EndingExchange } from './ending-exchange.js';
import type { RetryBudget } from './retry-budget.js';

/** How a request ended, for metrics and logs. `refused`: a limit, the admission policy or the queue kept it out. */
export type Outcome =
  | 'ok'
  | 'client_error'
  | 'upstream_error'
  | 'timeout'
  | 'client_left'
  | 'refused'
  | 'no_replica'
  | 'fault';

/** What an exchange needs of its gateway. */
export interface ExchangeHost {
  readonly retries: { most: number; backoffMs: number };
  readonly budget: RetryBudget;
  readonly metrics: GatewayMetrics;
  /** Null where requests are not recorded. */
  readonly recorder: TrafficRecorder | null;
  /** Null where no keys are asked for. */
  readonly access: Access | null;
  /** No more requests are wanted: connections end with their answers. */
  readonly isDraining: boolean;
  nowUs(): number;
  /** A number in [0, 1) from the gateway's seeded stream. */
  jitter(): number;
  /** Read a response's tokens beside its bytes. */
  readonly meters: MeterPool;
  /** Something that should not happen did. */
  fault(error: unknown): void;
  /** What it has used is known: `exchange.journalled` is called, perhaps at once, when that is safe. */
  note(exchange: EndingExchange): void;
  /** Once for each request. */
  ended(exchange: EndingExchange): void;
}
